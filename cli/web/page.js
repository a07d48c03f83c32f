/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of "lowtide web": asks what lowtided has of this user, each minute,
 * and draws it. Texts of others are only ever text, never markup.
 */
"use strict";
{
const AGAIN_S = 60, DAYS_AGAIN_MS = 10 * 60 * 1000;
const PAGES_MAX = 25, ROWS_SHOWN = 100, BURN_DOWNS_MAX = 24;
const HOUR_MS = 3600 * 1000, DAY_MS = 24 * HOUR_MS;
const SVG = "http://www.w3.org/2000/svg";

const seen = {}; /* the last answers, by what was asked */
const days = new Map(); /* of a budget, and "" of all teams: {at, answer or error} */
let next_at = 0, is_asking = false, errors_shown = "";

/* ---- elements ---- */
const by_id = (id) => document.getElementById(id);
function element(name, attributes, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		if (value !== null && value !== undefined)
			e.setAttribute(key, value);
	e.append(...children.filter((c) => c !== null));
	return e;
}
function drawn(parent, name, attributes, text) {
	const e = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, typeof value === "number" ? +value.toFixed(2) : value);
	if (text !== undefined)
		e.textContent = text;
	parent.append(e);
	return e;
}
/* <data> keeps the number as lowtided said it. */
const figure_of = (value, text) => value === null ? text : element("data", {value}, text);
/* columns: [title, class]; cells: text, element or null */
function table(caption, columns, rows) {
	const names_row = columns[0][1] !== "number";
	const cell = (content, index) => element(index === 0 && names_row ? "th" : "td", {
		class: columns[index][1] || null, scope: index === 0 && names_row ? "row" : null},
	content === null || content === undefined ? "-" : content);
	return element("div", {class: "scroll", role: "group", tabindex: "0", "aria-label": caption},
		element("table", {},
			element("caption", {}, caption),
			element("thead", {}, element("tr", {}, ...columns.map(([title, kind]) =>
				element("th", {scope: "col", class: kind || null}, title)))),
			element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))))));
}
/* Open and focused as it was before: a refresh takes nobody's place away. */
function replace(section, children) {
	const body = by_id(section).querySelector(".body");
	const open = new Set([...body.querySelectorAll("details[open]")].map((d) => d.dataset.key));
	const active = document.activeElement;
	const focused = body.contains(active) ? active.closest("details") : null;
	body.replaceChildren(...children);
	for (const d of body.querySelectorAll("details")) {
		d.open = open.has(d.dataset.key);
		if (focused !== null && d.dataset.key === focused.dataset.key)
			d.querySelector("summary").focus({preventScroll: true});
	}
}
const folded = (key, summary, content) =>
	element("details", {"data-key": key}, element("summary", {}, summary), content);
const width_of = (section) => {
	const card = by_id(section).querySelector(".card");
	const outer = by_id(section).querySelector(".body").clientWidth;
	return Math.max(240, Math.min(900, card !== null ? card.clientWidth - 32 : outer - 32));
};

/* ---- texts ---- */
/* The site's zone, as its days and months are; else the browser's. */
function in_zone(options) {
	const timeZone = seen.status !== undefined && seen.status.timezone || undefined;
	try {
		Intl.DateTimeFormat(undefined, {timeZone});
	} catch (error) {
		return options; /* no such zone, to the browser */
	}
	return {...options, timeZone};
}
const number_text = (value, digits) => value.toLocaleString(undefined, {maximumSignificantDigits: digits || 4});
function money_text(micros, currency, digits) {
	/* lowtided's, by ISO 4217: a browser's own are of some currencies fewer. */
	const decimals = seen.status !== undefined ? seen.status.currency_decimals : undefined;
	try {
		return (micros / 1e6).toLocaleString(undefined, {style: "currency", currency,
			minimumFractionDigits: decimals, maximumFractionDigits: digits || decimals});
	} catch (error) {
		return `${(micros / 1e6).toLocaleString()} ${currency}`; /* no such currency, to the browser */
	}
}
function carbon_text(mg) {
	const size = Math.abs(mg);
	const [scale, unit] = size >= 1e9 ? [1e9, "t"] : size >= 1e6 ? [1e6, "kg"] : [1e3, "g"];
	return `${number_text(mg / scale)} ${unit} CO2e`;
}
const amount_text = (amount, currency) => amount === null || amount === undefined ? null
	: [amount.money_micros !== null && currency ? money_text(amount.money_micros, currency) : null,
		amount.carbon_mg !== null ? carbon_text(amount.carbon_mg) : null].filter((t) => t !== null).join(", ");
const time_text = (ms) => new Date(ms).toLocaleString(undefined, in_zone({weekday: "short", day: "numeric",
	month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23"}));
const day_hour_text = (ms) => new Date(ms).toLocaleString(undefined, in_zone({weekday: "short", hour: "2-digit",
	minute: "2-digit", hourCycle: "h23"}));
const hour_text = (ms) => new Date(ms).toLocaleTimeString(undefined, in_zone({hour: "2-digit", minute: "2-digit", hourCycle: "h23"}));
const day_text = (ms) => new Date(ms).toLocaleDateString(undefined, in_zone({day: "numeric", month: "short"}));
function age_text(s) {
	if (s === null || s === undefined)
		return "never";
	return s < 120 ? `${s} s` : s < 7200 ? `${Math.round(s / 60)} min`
		: s < 172800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
}
/* Of a source's values: as people write them. */
function unit_of(source, currency) {
	return source.scale === 1 ? source.unit : source.unit.replace("micros", currency);
}
const value_text = (source, value, currency) => value === null ? "not known"
	: source.scale === 1 || !currency ? `${number_text(value / source.scale)} ${unit_of(source, currency)}`
	: `${money_text(value, currency, 4)}${source.unit.replace("micros", "")}`;
const key_texts = {carbon: "Carbon", price_per_node_hour: "Price of a node-hour",
	electricity_price_per_kwh: "Price of electricity", interruptions_per_hour: "Interruptions",
	placement_score: "Placement score"};

/* ---- lowtided ---- */
async function ask(path, words) {
	const query = words !== undefined ? `?${new URLSearchParams(words)}` : "";
	let answer, body;
	try {
		answer = await fetch(`v1/${path}${query}`, {cache: "no-store", credentials: "omit"});
	} catch (error) {
		throw new Error("`lowtide web` does not answer: it has ended, or the ssh that leads to it has.");
	}
	try {
		body = await answer.json();
	} catch (error) {
		throw new Error(`the answer (status ${answer.status}) is not JSON`);
	}
	if (!answer.ok)
		throw new Error(body.error || `status ${answer.status}`);
	return body;
}
/* All pages of a list: those of `key` joined in the first answer. */
async function ask_pages(path, key, word) {
	let whole = null, words;
	for (let i = 0; i < PAGES_MAX; i++) {
		const page = await ask(path, words);
		if (whole === null)
			whole = page;
		else
			whole[key].push(...page[key]);
		if (page.next === null || page.next === undefined)
			break;
		words = {[word]: page.next};
	}
	return whole;
}
const budget_key = (b) => `${b.team}\n${b.label}\n${b.start}`;
async function ask_report(key, words) {
	const known = days.get(key);
	if (known !== undefined && Date.now() - known.at < DAYS_AGAIN_MS)
		return;
	const told = {at: Date.now()};
	try {
		told.answer = await ask("report", words);
	} catch (error) {
		told.error = error.message;
	}
	days.set(key, told);
}
function ask_days(budget) {
	const words = {team: budget.team};
	if (/^\d{4}(-\d{2}|-Q\d)?$/.test(budget.label))
		words.period = budget.label;
	else
		Object.assign(words, {from: budget.start, to: budget.end});
	return ask_report(budget_key(budget), words);
}

/* ---- charts ---- */
/* Round figures between low and high, two to five of them. */
function ticks(low, high) {
	const rough = (high - low) / 5.4, power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough);
	const list = [];
	for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step)
		list.push(Math.abs(t) < step * 1e-9 ? 0 : t);
	return list;
}
function frame(width, height, label, y, y_text) {
	const svg = document.createElementNS(SVG, "svg");
	const ys = ticks(y.low, y.high), texts = ys.map(y_text);
	const left = 14 + 7 * Math.max(...texts.map((t) => t.length));
	const f = {svg, left, right: width - 10, top: 30, bottom: height - 24};
	svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", label);
	f.y = (value) => f.bottom - (value - y.low) / (y.high - y.low) * (f.bottom - f.top);
	ys.forEach((tick, i) => {
		drawn(svg, "line", {class: tick === 0 ? "zero" : "grid", x1: left, x2: f.right, y1: f.y(tick), y2: f.y(tick)});
		drawn(svg, "text", {class: "tick end", x: left - 6, y: f.y(tick) + 4}, texts[i]);
	});
	return f;
}
/* Each known hour as a step; a hole where none is known. */
function steps(hours, x, y, key) {
	let path = "", is_open = false;
	for (const h of hours) {
		if (h === null || h[key] === null) {
			is_open = false;
			continue;
		}
		path += `${is_open ? "L" : "M"}${x(h.at).toFixed(1)} ${y(h[key]).toFixed(1)}H${x(h.at + HOUR_MS).toFixed(1)}`;
		is_open = true;
	}
	return path;
}
function draw_hours(source, hours, jobs, width, label, currency) {
	const known = hours.filter((h) => h !== null);
	const all = known.flatMap((h) => [h.value, h.low, h.high]).filter((v) => v !== null);
	let low = Math.min(...all), high = Math.max(...all);
	const pad = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
	low = low >= 0 ? Math.max(0, low - pad) : low - pad;
	high += pad;
	const f = frame(width, 200, label, {low, high}, (v) => number_text(v, 3));
	const from = known[0].at, to = known[0].at + 24 * HOUR_MS;
	const x = (ms) => f.left + (ms - from) / (to - from) * (f.right - f.left);
	const every = (width < 420 ? 6 : 3) * HOUR_MS;
	for (let ms = from; ms < to; ms += every)
		drawn(f.svg, "text", {class: ms === from ? "tick" : "tick middle", x: x(ms), y: 194}, hour_text(ms));
	drawn(f.svg, "text", {class: "tick", x: 0, y: 12}, unit_of(source, currency));
	for (const h of known.filter((k) => k.low !== null))
		drawn(f.svg, "rect", {class: "band", x: x(h.at), width: x(h.at + HOUR_MS) - x(h.at) + 0.3,
			y: f.y(h.high), height: Math.max(0, f.y(h.low) - f.y(h.high))});
	drawn(f.svg, "path", {class: "value", d: steps(hours, x, f.y, "value")});
	for (const h of known) {
		const here = jobs.filter((j) => j.at >= h.at && j.at < h.at + HOUR_MS);
		if (here.length === 0)
			continue;
		drawn(f.svg, "circle", {class: "job", cx: x(h.at + HOUR_MS / 2), cy: f.y(h.value), r: 6});
		drawn(f.svg, "text", {class: "job-count", x: x(h.at + HOUR_MS / 2), y: Math.max(20, f.y(h.value) - 10)},
			`${here.length}`);
	}
	return f.svg;
}
/* points: [ms, left], the last one now; held is drawn from there down. */
function draw_left(b, points, width, label, axis_text) {
	const start = Date.parse(b.start), end = Date.parse(b.end);
	const low = Math.min(0, b.available, ...points.map((p) => p[1]));
	const high = Math.max(b.limit, ...points.map((p) => p[1]));
	const f = frame(width, 200, label, {low, high: high > low ? high : low + 1e6}, axis_text);
	const x = (ms) => f.left + (Math.min(Math.max(ms, start), end) - start) / (end - start) * (f.right - f.left);
	drawn(f.svg, "text", {class: "tick", x: f.left, y: 194}, day_text(start));
	drawn(f.svg, "text", {class: "tick end", x: f.right, y: 194}, day_text(end - 1));
	drawn(f.svg, "line", {class: "pace", x1: f.left, y1: f.y(b.limit), x2: f.right, y2: f.y(0)});
	const now = points[points.length - 1];
	const top = f.y(Math.max(now[1], b.available));
	if (points.length > 1)
		drawn(f.svg, "path", {class: "value", d: "M" + points.map((p) =>
			`${x(p[0]).toFixed(1)} ${f.y(p[1]).toFixed(1)}`).join("L")});
	drawn(f.svg, "rect", {class: "held", x: x(now[0]) - 4, width: 8, y: top,
		height: Math.abs(f.y(now[1]) - f.y(b.available))});
	drawn(f.svg, "circle", {class: "left", cx: x(now[0]), cy: f.y(now[1]), r: 4});
	return f.svg;
}

/* ---- sections ---- */
const waiting_jobs = () => (seen.jobs !== undefined ? seen.jobs.jobs : [])
	.filter((j) => !j.ended && j.start === null)
	.map((j) => ({...j, at: j.plan !== null && j.plan.start !== null ? Date.parse(j.plan.start) : null}));

const fixed_figure = (key, signal) => element("div", {class: "fixed"}, element("h4", {}, key_texts[key]),
	element("p", {class: "now"}, figure_of(signal.value, value_text(signal, signal.value, seen.signals.currency)),
		element("small", {}, " in all hours, by the policy")));
/* names: the partitions that share it */
function signal_figure(names, key, source, width) {
	const partition = names.join(", ");
	const currency = seen.signals.currency;
	const hours = source.hours.map((h) => h !== null ? {...h, said: h, at: Date.parse(h.start),
		value: h.value / source.scale, low: h.low !== null ? h.low / source.scale : null,
		high: h.high !== null ? h.high / source.scale : null} : null);
	const known = hours.filter((h) => h !== null);
	const jobs = waiting_jobs().filter((j) => j.at !== null && names.includes(j.plan.partition));
	const title = key_texts[key];
	const head = [element("h4", {}, title),
		element("p", {class: "now"}, figure_of(source.value_now, value_text(source, source.value_now, currency)),
			element("small", {}, ` now, ${source.quality}${source.stale ? ", stale" : ""}`))];
	if (known.length === 0)
		return element("figure", {}, ...head, element("p", {class: "quiet"}, "No forecast of the next hours."));
	const least = known.reduce((a, b) => (b.value < a.value ? b : a));
	const most = known.reduce((a, b) => (b.value > a.value ? b : a));
	const said = least.value === most.value ? `the same in all ${known.length} hours`
		: `least ${number_text(least.value)} at ${hour_text(least.at)}, most ${number_text(most.value)} at ${hour_text(most.at)}`;
	const label = `${title} of ${partition}, next 24 hours in ${unit_of(source, currency)}: ${said}; ` +
		`${jobs.length} planned starts. The table below has all.`;
	const here = (h) => jobs.filter((j) => j.at >= h.at && j.at < h.at + HOUR_MS).map((j) => j.id).join(" ");
	const digits = (h, name) => h[name] === null ? null
		: figure_of(h.said[name], number_text(h[name]));
	return element("figure", {}, ...head,
		draw_hours(source, hours, jobs, width, label, currency),
		element("figcaption", {}, `Next 24 hours: ${said}.` +
			(known.every((h) => h.low === null) ? " No interval: measured, constant, or not scored yet." : "")),
		folded(`${partition} ${key}`, `${title} of ${partition} as a table`,
			table(`${title} of ${partition}, ${unit_of(source, currency)}, by ${source.name}`,
				[["Hour", ""], ["Mean", "number"], ["Low", "number"], ["High", "number"], ["From", ""], ["Jobs that start", ""]],
				known.map((h) => [element("time", {datetime: h.start}, day_hour_text(h.at)), digits(h, "value"), digits(h, "low"), digits(h, "high"), h.quality,
					here(h) || null]))));
}
function show_partitions() {
	if (seen.signals === undefined)
		return;
	const order = ["price_per_node_hour", "electricity_price_per_kwh", "carbon"];
	const partitions = new Map();
	const of = (name) => {
		if (!partitions.has(name))
			partitions.set(name, new Map());
		return partitions.get(name);
	};
	const shared = []; /* {key, source, names}: one curve for all of them */
	for (const source of seen.signals.sources) {
		const uses = source.used_by.filter((use) => use.in_use);
		for (const key of new Set(uses.map((use) => use.key))) {
			const names = uses.filter((use) => use.key === key).map((use) => use.partition);
			if (order.includes(key) && names.length > 1)
				shared.push({key, source, names});
			else
				names.forEach((name) => of(name).set(key, source));
		}
	}
	for (const fixed of seen.signals.fixed || [])
		of(fixed.partition).set(fixed.key, {...fixed, value_now: fixed.value, fixed: true});
	const width = width_of("partitions");
	const one = [...partitions].map(([name, signals]) => element("article", {class: "card", "aria-label": `Partition ${name}`},
		element("h3", {}, name),
		...order.filter((key) => signals.has(key)).map((key) => signals.get(key).fixed
			? fixed_figure(key, signals.get(key)) : signal_figure([name], key, signals.get(key), width)),
		...["interruptions_per_hour", "placement_score"].filter((key) => signals.has(key)).map((key) =>
			element("p", {class: "quiet"}, `${key_texts[key]}: `, figure_of(signals.get(key).value_now,
				value_text(signals.get(key), signals.get(key).value_now, seen.signals.currency))))));
	const cards = [...shared.map(({key, source, names}) => element("article", {class: "card",
		"aria-label": `${key_texts[key]} of ${names.join(", ")}`},
	element("h3", {}, names.join(", ")), signal_figure(names, key, source, width))), ...one];
	replace("partitions", [cards.length > 0 ? element("div", {class: "cards"}, ...cards)
		: element("p", {}, "The policy has no partitions with a price or carbon.")]);
}

function show_jobs() {
	if (seen.jobs === undefined)
		return;
	const {currency} = seen.jobs;
	const jobs = waiting_jobs().sort((a, b) => (a.at === null ? Infinity : a.at) - (b.at === null ? Infinity : b.at));
	if (jobs.length === 0) {
		replace("jobs", [element("p", {}, "No job of yours waits.")]);
		return;
	}
	const shown = jobs.slice(0, ROWS_SHOWN);
	const rows = shown.map((j) => [j.id, j.name, j.user, j.plan !== null ? j.plan.partition : j.partition,
		j.at === null ? null : element("time", {datetime: j.plan.start}, time_text(j.at)), j.reason,
		amount_text(j.expected, currency), amount_text(j.saves, currency)]);
	const more = jobs.length > shown.length ? [element("p", {class: "quiet"},
		`And ${jobs.length - shown.length} more, which start later; \`lowtide jobs --all\` has them.`)] : [];
	replace("jobs", [table(`${jobs.length} waiting; by planned start`,
		[["Job", ""], ["Name", "text"], ["User", ""], ["Partition", ""], ["Planned start", ""], ["Waits for", ""],
			["Expected", "number"], ["Saves", "number"]], rows), ...more]);
}

/* What was left at the end of each day, and now; why there are no days. */
function left_by_day(budget, b, kind) {
	const told = days.get(budget_key(budget));
	const start = Date.parse(budget.start), now = Math.min(Date.now(), Date.parse(budget.end));
	const answer = told !== undefined ? told.answer : undefined;
	const today = [now, b.limit - b.spent];
	if (answer === undefined || answer.own_figures)
		return {points: [today], rows: [], why: told === undefined ? "Its days are asked for ..."
			: told.error || "Its days are not all yours to see."};
	const spent = new Map();
	for (const g of answer.by !== undefined && answer.by.day || [])
		spent.set(g.day, (spent.get(g.day) || 0) + (kind === "money" ? g.cost_micros : g.carbon_mg));
	const points = [[start, b.limit]], rows = [];
	let left = b.limit;
	/* The site's midnight, as the period begins with one. */
	const midnight = start - Date.parse(`${answer.period.first_day}T00:00:00Z`);
	for (const day of [...spent.keys()].sort()) {
		const at = Date.parse(`${day}T00:00:00Z`) + midnight;
		if (at > points[points.length - 1][0])
			points.push([at, left]);
		left -= spent.get(day);
		points.push([Math.min(at + DAY_MS, now), left]);
		rows.push([day, spent.get(day), left]);
	}
	points.push(today);
	return {points, rows, why: null};
}
const limit_text = (kind, v) => kind === "money" ? money_text(v, seen.budget.currency) : carbon_text(v);
const kinds_of = (budget) => [["money", budget.limit_micros], ["carbon", budget.limit_mg]]
	.filter(([, limit]) => limit !== null).map(([kind]) => kind);
function budget_figure(budget, kind, width) {
	const currency = seen.budget.currency, key = kind === "money" ? "micros" : "mg";
	const text = (v) => limit_text(kind, v);
	const b = {start: budget.start, end: budget.end};
	for (const name of ["limit", "spent", "held", "available"])
		b[name] = budget[`${name}_${key}`];
	const {points, rows, why} = left_by_day(budget, b, kind);
	const part = b.limit > 0 ? ` (${number_text(100 * b.available / b.limit, 3)} %)` : "";
	const whose = `${budget.team}, ${budget.label}`, what = kind === "money" ? "Money" : "Carbon";
	const label = `Burn-down of ${whose}: ${text(b.spent)} of ${text(b.limit)} spent, ${text(b.held)} held, ` +
		`${text(b.available)} available. The table below has all.`;
	const scale = kind === "money" ? 1e6 : Math.abs(b.limit) >= 1e9 ? 1e9 : Math.abs(b.limit) >= 1e6 ? 1e6 : 1e3;
	const unit = kind === "money" ? currency : {1e9: "t CO2e", 1e6: "kg CO2e", 1e3: "g CO2e"}[scale];
	const chart = draw_left(b, points, width, label, (v) => number_text(v / scale, 3));
	drawn(chart, "text", {class: "tick", x: 0, y: 12}, unit);
	const expected = forecast_text(answer_of(budget_key(budget)), kind, b.limit);
	return element("figure", {},
		element("p", {class: "now"}, element("span", {class: b.available < 0 ? "bad" : ""}, text(b.available)),
			element("small", {}, `${part} available${b.available < 0 ? ", over its limit" : ""}`)),
		chart,
		expected !== null ? element("p", {}, "By the end: ", expected, ".") : null,
		table(`${what} of ${whose}`,
			[["Limit", "number"], ["Spent", "number"], ["Held", "number"], ["Available", "number"]],
			[["limit", "spent", "held", "available"].map((name) => figure_of(b[name], text(b[name])))]),
		why !== null ? element("figcaption", {}, why)
			: folded(`${whose} ${kind}`, `${what} of ${whose}, by day`, table(`${what} of ${whose}, by day`,
				[["Day", ""], ["Spent", "number"], ["Left", "number"]],
				rows.map(([day, spent, left]) => [day, figure_of(spent, text(spent)), figure_of(left, text(left))]))));
}
/* The least part of a limit that is left. */
const part_left = (b) => Math.min(...kinds_of(b).map((kind) => kind === "money"
	? b.available_micros / (b.limit_micros || 1) : b.available_mg / (b.limit_mg || 1)));
/* Teams that are drawn: all, or of many those that have the least left. */
function burn_downs() {
	const teams = seen.budget.budgets.filter((b) => b.user === null && kinds_of(b).length > 0);
	return teams.length <= BURN_DOWNS_MAX ? teams
		: teams.sort((a, b) => part_left(a) - part_left(b)).slice(0, BURN_DOWNS_MAX);
}
function three_figures(value) {
	const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.abs(value) || 1)) - 2);
	return Math.round(value / step) * step;
}
/* What a period is expected to come to, in per cent of a limit where there is
 * one; nothing where that can't be told. */
function forecast_text(answer, kind, limit) {
	const key = kind === "money" ? "micros" : "mg";
	const f = answer !== undefined ? answer.forecast : null;
	if (f === null || f === undefined || f[`expected_${key}`] === null)
		return null;
	const text = (v) => limit_text(kind, three_figures(v));
	return element("span", {}, "about ", figure_of(f[`expected_${key}`], text(f[`expected_${key}`])),
		` (${text(f[`low_${key}`])} to ${text(f[`high_${key}`])})` +
		(limit > 0 ? `, ${number_text(100 * f[`expected_${key}`] / limit, 3)} % of its limit` : ""));
}
const answer_of = (key) => days.has(key) ? days.get(key).answer : undefined;
/* The month of all teams that are seen, the dearest first. */
function spend_by_team() {
	const answer = answer_of("");
	/* Figures that are the asker's own are not the team's. */
	if (answer === undefined || answer.own_figures || answer.teams.length === 0)
		return [];
	const kind = answer.currency ? "money" : "carbon";
	const cost = (t) => kind === "money" ? t.cost_micros : t.carbon_mg;
	const teams = answer.teams.filter((t) => cost(t) !== 0).sort((a, b) => cost(b) - cost(a));
	const most = teams.length > 0 ? cost(teams[0]) : 0;
	const bar = (t) => {
		const svg = document.createElementNS(SVG, "svg");
		svg.setAttribute("viewBox", "0 0 100 8");
		svg.setAttribute("class", "bar");
		svg.setAttribute("aria-hidden", "true");
		drawn(svg, "rect", {class: "left", width: Math.max(0, 100 * cost(t) / (most || 1)), height: 8});
		return svg;
	};
	const expected = forecast_text(answer, kind, 0);
	return [table(`Spent by team, ${answer.period.label}`,
		[["Team", ""], ["Money", "number"], ["Carbon", "number"], ["Runs", "number"], ["", ""]],
		teams.slice(0, ROWS_SHOWN).map((t) => [t.team, answer.currency ? figure_of(t.cost_micros, money_text(t.cost_micros, answer.currency)) : null,
			figure_of(t.carbon_mg, carbon_text(t.carbon_mg)), `${t.runs}`, bar(t)])),
	...(expected !== null ? [element("p", {}, `All of them by the end of ${answer.period.label}: `, expected, ".")] : [])];
}
function budget_table(budgets, caption) {
	const rows = budgets.flatMap((b) => kinds_of(b).map((kind) => [b.team, b.user, b.label,
		...["limit", "spent", "held", "available"].map((name) => {
			const value = b[`${name}_${kind === "money" ? "micros" : "mg"}`];
			return figure_of(value, limit_text(kind, value));
		})]));
	return table(caption, [["Team", ""], ["User", ""], ["Period", ""], ["Limit", "number"], ["Spent", "number"],
		["Held", "number"], ["Available", "number"]], rows.slice(0, ROWS_SHOWN));
}
function show_budgets() {
	if (seen.budget === undefined)
		return;
	const width = width_of("budgets"), drawn_ones = burn_downs();
	const cards = drawn_ones.map((budget) => element("article", {class: "card", "aria-label": `Budget of ${budget.team}`},
		element("h3", {}, `${budget.team}, ${budget.label}`),
		...kinds_of(budget).map((kind) => budget_figure(budget, kind, width)),
		element("p", {class: "quiet"}, `When exceeded: ${budget.on_exceed}.` +
			(budget.alerts !== null && budget.alerts.length > 0 ? ` Its alert at ${Math.max(...budget.alerts)} % has passed.` : ""))));
	const others = seen.budget.budgets.filter((b) => !drawn_ones.includes(b) && kinds_of(b).length > 0);
	const rest = others.length === 0 ? [] : [budget_table(others, others.every((b) => b.user !== null)
		? "Caps of users" : "Other budgets, and caps of users"),
	...(others.length > ROWS_SHOWN ? [element("p", {class: "quiet"}, "`lowtide budget` has them all.")] : [])];
	replace("budgets", [cards.length > 0 ? element("div", {class: "cards"}, ...cards)
		: element("p", {}, "No budget of a team that you may see."), ...rest, ...spend_by_team()]);
}

function show_sources() {
	if (seen.signals === undefined)
		return;
	const {sources, currency} = seen.signals;
	const health = (s) => s.last_error !== null ? element("span", {class: "bad"}, `fails: ${s.last_error}`)
		: s.stale ? element("span", {class: "bad"}, s.stale_since !== null ? `stale since ${time_text(Date.parse(s.stale_since))}` : "nothing yet")
		: element("span", {class: "good"}, s.replay ? "well; a recording" : "well");
	const used = (s) => [...new Set(s.used_by.filter((u) => u.in_use).map((u) => u.partition))].join(", ");
	const bad = sources.filter((s) => s.last_error !== null || s.stale).length;
	const facts = seen.status === undefined ? [] : [["policy", seen.status.policy], ["market", seen.status.market], ["budget", seen.status.budget]]
		.filter(([, part]) => part && part.error).map(([name, part]) => element("p", {class: "error"}, `${name}: ${part.error}`));
	if (seen.status !== undefined && seen.status.error)
		facts.push(element("p", {class: "error"}, `lowtided: ${seen.status.error}`));
	const market = seen.status !== undefined && seen.status.market ? `; market of ${age_text(seen.status.market.age_s)} ago` : "";
	replace("sources", [...facts, sources.length === 0 ? element("p", {}, "The policy has no sources.")
		: table(`${sources.length} sources, ${bad === 0 ? "all well" : `${bad} not well`}${market}`,
			[["Source", ""], ["Health", "text"], ["Now", "number"], ["Quality", ""], ["Age", "number"], ["Adapter", ""], ["In use by", "text"]],
			sources.map((s) => [s.name, health(s), figure_of(s.value_now, value_text(s, s.value_now, currency)), s.quality,
				age_text(s.age_s), s.adapter, used(s) || null]))]);
}
function show_title() {
	if (seen.status === undefined)
		return;
	const {cluster, mode, version} = seen.status;
	by_id("cluster").textContent = cluster ? ` ${cluster}` : "";
	by_id("mode").textContent = `mode ${mode}, lowtided ${version}`;
	document.title = cluster ? `lowtide ${cluster}` : "lowtide";
}
function show_all() {
	show_title();
	for (const show of [show_budgets, show_partitions, show_jobs, show_sources])
		show();
}

/* ---- each minute ---- */
/* What nobody asked for is not said aloud, nor the same error twice. */
async function refresh(is_by_hand) {
	const errors = [];
	const take = async (name, what, asked) => {
		try {
			seen[name] = await asked();
		} catch (error) {
			errors.push(`${what}: ${error.message}`);
		}
	};
	if (is_asking)
		return;
	is_asking = true;
	by_id("again").setAttribute("aria-disabled", "true");
	await take("status", "lowtided", () => ask("status"));
	await take("signals", "Prices and carbon", () => ask_pages("signals", "sources", "offset"));
	await take("jobs", "Jobs", () => ask_pages("jobs", "jobs", "after"));
	await take("budget", "Budgets", () => ask("budget"));
	show_all();
	await ask_report("", {});
	for (const budget of seen.budget !== undefined ? burn_downs() : [])
		await ask_days(budget);
	show_all(); /* by the width of what is there now, too */
	if (errors.join("\n") !== errors_shown)
		by_id("errors").replaceChildren(...errors.map((text) => element("p", {class: "error"}, text)));
	errors_shown = errors.join("\n");
	next_at = Date.now() + AGAIN_S * 1000;
	by_id("time").setAttribute("aria-live", is_by_hand ? "polite" : "off");
	by_id("time").textContent = `${errors.length === 0 ? "As of" : "Tried at"} ${new Date().toLocaleTimeString(undefined,
		in_zone({hourCycle: "h23", timeZoneName: "short"}))}; again each ${AGAIN_S} s`;
	by_id("again").removeAttribute("aria-disabled");
	is_asking = false;
}
by_id("again").addEventListener("click", () => refresh(true));
/* Nobody looks at a hidden page: it is asked for when it is shown again. */
const when_due = () => {
	if (!document.hidden && Date.now() >= next_at)
		refresh(false);
};
setInterval(when_due, 1000);
document.addEventListener("visibilitychange", when_due);
let resized;
addEventListener("resize", () => {
	clearTimeout(resized);
	resized = setTimeout(show_all, 150);
});
when_due();
}
