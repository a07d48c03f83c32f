/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTML statement's one style sheet. Colors are named once for light and
 * once for dark; paper is always light. A test computes the contrast of each
 * pair that a rule puts together.
 */
#include "report_html.h"

const char
    *const lt_html_style[] =
	{
	    ":root{color-scheme:light dark;--page:#ffffff;--panel:#f4f6f9;--ink:#17202c;--quiet:#4d5a6b;"
	    "--line:#d5dbe4;--mark:#0b5cad;--good:#176b39;--bad:#b3261e;--track:#e3e8ef;--range:#bcd6f0}\n",
	    "@media screen and (prefers-color-scheme:dark){:root{--page:#12171f;--panel:#1b222d;--ink:#e8edf4;--quiet:#a9b4c3;"
	    "--line:#36404f;--mark:#6db3f8;--good:#74d49a;--bad:#ff978d;--track:#2a3442;--range:#27476b}}\n",
	    "*{box-sizing:border-box}\n",
	    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n",
	    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;overflow-wrap:anywhere}\n",
	    "header,main,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}\n",
	    "header{padding-top:2.5rem}\n",
	    "h1{font-size:2rem;line-height:1.2;margin:.25rem 0}\n",
	    "h2{font-size:1.25rem;line-height:1.3;margin:0 0 .75rem}\n",
	    "p{margin:0 0 .75rem;max-width:46rem}\n",
	    "a{color:var(--mark)}\n",
	    ".over,.note,small,figcaption,caption,footer{color:var(--quiet)}\n",
	    ".over{margin:0}.over,.note{font-size:.875rem}\n",
	    ".state{display:inline-block;margin:.25rem 0 0;padding:.1rem .6rem;border:1px solid;border-radius:1rem;font-size:.875rem;font-weight:600}\n",
	    ".good{color:var(--good)}.bad{color:var(--bad)}\n",
	    ".state{margin-right:.5rem}\n",
	    ".who{list-style:none;padding:0;max-width:none}.who li{margin:0 0 .4rem;padding:.35rem .75rem;background:var(--panel);border-left:4px solid}.who li:not([class]){border:0;padding-left:0;background:none}\n",
	    ".lead{font-size:1.125rem;margin:0 0 1rem}\n",
	    "section{margin:0;padding:1.75rem 0 0}\n",
	    ".tiles{display:grid;gap:.75rem;margin:0}.of2{grid-template-columns:repeat(2,1fr)}.of3,.long{grid-template-columns:repeat(3,1fr)}.of4{grid-template-columns:repeat(4,1fr)}\n",
	    ".tile:first-child:nth-last-child(5),.of4 .tile:first-child:nth-last-child(7){grid-column:span 2}.long .tile:first-child:nth-last-child(3n+1){grid-column:span 3}\n",
	    ".tile{background:var(--panel);border-radius:.5rem;padding:.75rem 1rem}\n",
	    ".tile dt{font-size:.875rem}\n",
	    ".tile dd{margin:0;font-size:.875rem;color:var(--quiet)}\n",
	    ".tile .figure{font-size:1.5rem;line-height:1.3;font-weight:650;color:var(--ink);font-variant-numeric:tabular-nums;white-space:nowrap}\n",
	    ".tile .figure.good{color:var(--good)}.tile .figure.bad{color:var(--bad)}\n",
	    ".scroll{overflow-x:auto;margin:0 0 1rem;background:linear-gradient(to left,var(--page) 30%,transparent) right/3rem 100% no-repeat local,linear-gradient(to left,var(--line),transparent) right/1rem 100% no-repeat scroll}\n",
	    ".scroll:focus-visible{outline:2px solid var(--mark);outline-offset:2px}\n",
	    "table{border-collapse:separate;border-spacing:0;width:100%;font-size:.9375rem;font-variant-numeric:tabular-nums}\n",
	    "caption{text-align:left;font-size:.875rem;padding:0 0 .35rem}\n",
	    "th,td{text-align:right;vertical-align:top;padding:.35rem 0 .35rem 1rem;border-bottom:1px solid var(--line);font-weight:400;white-space:nowrap}\n",
	    "th:first-child{text-align:left;padding-left:0;min-width:9rem;white-space:normal}\n",
	    "thead th{font-size:.8125rem;overflow-wrap:normal;font-weight:600;color:var(--quiet);vertical-align:bottom;border-bottom:2px solid var(--line)}\n",
	    "th.text,td.text{text-align:left;white-space:normal}\n",
	    "td.text{min-width:6rem}\n",
	    "tfoot th,tfoot td{font-weight:650;border-top:1px solid var(--line);border-bottom:0}\n",
	    "tbody th small{display:block}\n",
	    ".ours{font-style:italic}\n",
	    ".none{color:var(--quiet)}\n",
	    ".in1>bdi{margin-left:.6rem}.in2>bdi{margin-left:1.2rem}.in3>bdi{margin-left:1.8rem}.in4>bdi{margin-left:2.4rem}\n",
	    ".facts td{white-space:normal}.few,.facts{max-width:46rem}.few th,.facts th{white-space:normal}.dense th,.dense td{padding-top:.15rem;padding-bottom:.15rem}\n",
	    ".bar{display:block;width:100%;height:5px;margin-top:3px}\n",
	    "figure{margin:0 0 1rem}\n",
	    "figcaption{font-size:.875rem}\n",
	    ".chart{display:block;width:100%;height:auto}\n",
	    ".tick{font-size:12px;fill:var(--quiet)}\n",
	    ".track{fill:var(--track)}.mark{fill:var(--mark)}.back{fill:var(--good)}\n",
	    ".grid{stroke:var(--line)}.zero{stroke:var(--quiet)}\n",
	    ".line{fill:none;stroke:var(--mark);stroke-width:2.5;stroke-linejoin:round}\n",
	    ".pace{stroke:var(--quiet);stroke-width:1.5;stroke-dasharray:2 4}\n",
	    ".range{fill:var(--range)}\n",
	    ".forecast{stroke:var(--mark);stroke-width:2;stroke-dasharray:6 4}\n",
	    ".open{fill:var(--range);stroke:var(--mark)}.limit{stroke:var(--ink);stroke-width:2.5}\n",
	    ".key{display:inline-block;width:1.5rem;height:0;margin:0 .25rem 0 .75rem;vertical-align:middle}\n",
	    ".line-key{border-top:3px solid var(--mark)}.pace-key{border-top:2px dotted var(--quiet)}.range-key{border-top:.7rem solid var(--range)}\n",
	    ".mark-key{border-top:.7rem solid var(--mark)}.open-key{border:1px solid var(--mark);height:.7rem;background:var(--range)}.limit-key{width:0;height:1rem;border-left:3px solid var(--ink)}\n",
	    "code{font:.875rem/1.4 ui-monospace,Menlo,Consolas,monospace;word-break:break-all}\n",
	    "ul{margin:0 0 .75rem;padding-left:1.25rem;max-width:46rem}\n",
	    "footer{font-size:.875rem;padding-top:2rem;padding-bottom:3rem}\n",
	    "@media (max-width:60rem){.of4{grid-template-columns:repeat(3,1fr)}.of4 .tile:first-child:nth-last-child(n){grid-column:span 3}.long{grid-template-columns:repeat(2,1fr)}"
	    ".long .tile:first-child:nth-last-child(n){grid-column:span 1}.long .tile:first-child:nth-last-child(odd){grid-column:span 2}}\n",
	    "@media screen and (max-width:40rem){header{padding-top:1.5rem}h1{font-size:1.6rem}.of2,.of3,.of4{grid-template-columns:repeat(2,1fr)}.tile:first-child:nth-last-child(n),.of4 .tile:first-child:nth-last-child(n){grid-column:span 1}.long{grid-template-columns:1fr}.tile{padding:.6rem .7rem}.tile .figure{font-size:1.2rem}"
	    ".tile:first-child:nth-last-child(odd),.of4 .tile:first-child:nth-last-child(odd){grid-column:span 2}.long .tile:first-child:nth-last-child(n){grid-column:span 1}.tick{font-size:20px}table{font-size:.8125rem}thead th{font-size:.75rem}th,td{padding-left:.6rem}th:first-child{min-width:5.4rem;position:sticky;left:0;background:var(--page)}td.text{min-width:5.2rem}.change{font-size:.75rem}.change th,.change td{padding-left:.5rem}.change th:first-child{min-width:4.5rem;padding-left:0}}\n",
	    "@page{size:A4;margin:15mm}\n",
	    "@media print{html{font-size:9.5pt}body{font-size:1rem}header,main,footer{max-width:none;padding:0}.scroll{overflow:visible}"
	    "h2{break-after:avoid}tr,figure,.tile,.keep,.scroll{break-inside:avoid}thead{display:table-header-group}tfoot{display:table-row-group}caption{break-after:avoid}"
	    ".tile{border:1px solid var(--line)}section{padding-top:1.25rem}.scroll{background:none}table{font-size:.9rem}a{color:inherit}}\n",
	    NULL,
};
