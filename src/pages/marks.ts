/** Marks by which a reader recognises things: faces, states, labels and times. */
import { type Html, html, sanitised } from './html.ts';
import { type IconName, icon } from './icons.ts';

const minute_ms = 60_000;
const hour_ms = 60 * minute_ms;
const day_ms = 24 * hour_ms;

const counted = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

/** A length of time in one unit. */
function lengthOf(length_ms: number): string {
  if (length_ms < hour_ms) return counted(Math.floor(length_ms / minute_ms), 'minute');
  if (length_ms < day_ms) return counted(Math.floor(length_ms / hour_ms), 'hour');
  return counted(Math.floor(length_ms / day_ms), 'day');
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The length of time up to which a moment is shown by its distance. */
const nearest_ms = 30 * day_ms;

/**
 * A moment as seen from another one: `3 hours ago`, `in 2 days`, and from 30 days on its date, without the current year.
 * @param now in milliseconds since 1970
 */
export function momentInWords(at: Date, now: number): string {
  const passed_ms = now - at.getTime();
  const distance_ms = Math.abs(passed_ms);
  if (distance_ms < minute_ms) return 'just now';
  if (distance_ms < nearest_ms) return passed_ms > 0 ? `${lengthOf(distance_ms)} ago` : `in ${lengthOf(distance_ms)}`;
  return dateInWords(at, now);
}

/** `12 Mar`, and in another year `12 Mar 2025`. */
function dateInWords(at: Date, now: number): string {
  const date = `${at.getUTCDate()} ${months[at.getUTCMonth()]}`;
  return at.getUTCFullYear() === new Date(now).getUTCFullYear() ? date : `${date} ${at.getUTCFullYear()}`;
}

/** A moment as seen from now, with the exact one as its title. @param at ISO 8601 */
export function time(at: string | null | undefined): Html | undefined {
  if (!at) return undefined;
  const moment = new Date(at);
  const iso = moment.toISOString();
  const exact = `${iso.slice(0, 16).replace('T', ' ')} UTC`;
  return html`<time datetime="${iso}" title="${exact}">${momentInWords(moment, Date.now())}</time>`;
}

const zoned = new Map<string, Intl.DateTimeFormat>();

/** The format of moments in a time zone; one that this system does not know is read as UTC. */
function formatIn(zone: string): Intl.DateTimeFormat {
  const known = zoned.get(zone);
  if (known) return known;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-GB', {
      ...{ timeZone: zone, day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
      hourCycle: 'h23',
    });
  } catch (error) {
    if (error instanceof RangeError && zone !== 'UTC') return formatIn('UTC');
    throw error;
  }
  zoned.set(zone, format);
  return format;
}

/** How someone wants to see times. */
export interface TimePreference {
  times: 'relative' | 'absolute';
  /** The IANA name of a zone. */
  time_zone: string;
}

const timeMarkup = /<time datetime="([^"]+T[^"]+)" title="[^"]*">([^<]*)<\/time>/g;

/** Markup of pages with its moments as someone wants to see them. It is changed as a whole, so that views need not know who reads them. */
export function withTimes(markup: Html, { times, time_zone }: TimePreference): Html {
  if (times === 'relative' && time_zone === 'UTC') return markup;
  return sanitised(
    markup.text.replaceAll(timeMarkup, (_, iso: string, words: string) => {
      const exact = formatIn(time_zone).format(new Date(iso));
      return html`<time datetime="${iso}" title="${`${exact} ${time_zone}`}">${times === 'absolute' ? exact : words}</time>`
        .text;
    }),
  );
}

/** A day. @param on ISO 8601 */
export const day = (on: string | null | undefined): Html | undefined =>
  on ? html`<time datetime="${on}" title="${on}">${dateInWords(new Date(on), Date.now())}</time>` : undefined;

/** Whose face is shown: a user, or a project or group. */
interface Faced {
  id?: number;
  name: string;
  avatar_url?: string | null;
}

const hues = 8;

/** One or two letters that stand for a name. */
export function lettersOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return [...name.trim()][0] ?? '?';
  const letters = words.length === 1 ? [...first].slice(0, 2).join('') : [...first][0]! + [...last][0]!;
  return /^[\p{Script=Latin}\p{N}]+$/u.test(letters) ? letters.toUpperCase() : [...letters][0]!;
}

/** The sum of the code points of a name, as the hue of a face without an id. */
const sumOf = (name: string) => [...name].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0);

/**
 * The picture of a user, project or group, beside its name: the uploaded one, otherwise letters on a colour.
 * @param shape users are round
 */
export function face({ id, name, avatar_url }: Faced, shape: 'round' | 'square' = 'round'): Html {
  const kind = `face ${shape}`;
  if (avatar_url)
    return html`<img class="${kind}" src="${new URL(avatar_url).pathname}" alt="" width="20" height="20" loading="lazy">`;
  // The letters are no text, so that they are neither read aloud nor copied with the name.
  return html`<span class="${`${kind} hue${(id ?? sumOf(name)) % hues}`}" data-letters="${lettersOf(name)}" aria-hidden="true"></span>`;
}

interface ShownState {
  /** The colour: open or passed, closed or failed, waiting or late, done; or none. */
  colour: 'good' | 'bad' | 'warn' | 'done' | 'soft';
  icon: IconName;
  /** The word, if it is not that of the API. */
  word?: string;
}

/** States in the words of the API. */
const states: Readonly<Record<string, ShownState>> = {
  opened: { colour: 'good', icon: 'issue', word: 'Open' },
  closed: { colour: 'done', icon: 'closed' },
  merged: { colour: 'done', icon: 'merged' },
  locked: { colour: 'soft', icon: 'lock' },
  active: { colour: 'good', icon: 'milestone' },
  available: { colour: 'good', icon: 'server' },
  stopped: { colour: 'soft', icon: 'skip' },
  success: { colour: 'good', icon: 'ok', word: 'Passed' },
  failed: { colour: 'bad', icon: 'fail' },
  canceled: { colour: 'soft', icon: 'skip' },
  skipped: { colour: 'soft', icon: 'skip' },
  running: { colour: 'warn', icon: 'run' },
  blocked: { colour: 'warn', icon: 'clock' },
  manual: { colour: 'warn', icon: 'play', word: 'By hand' },
  resolved: { colour: 'good', icon: 'ok' },
  ignored: { colour: 'soft', icon: 'skip' },
  unresolved: { colour: 'bad', icon: 'bug' },
  detected: { colour: 'bad', icon: 'shield' },
  dismissed: { colour: 'soft', icon: 'skip' },
  critical: { colour: 'bad', icon: 'alert' },
  high: { colour: 'bad', icon: 'alert' },
  medium: { colour: 'warn', icon: 'alert' },
  low: { colour: 'soft', icon: 'alert' },
};
const waiting: ShownState = { colour: 'soft', icon: 'wait' };

/** What merge requests show otherwise: open ones are proposals, and closed ones were refused. */
const mergeRequestStates: Readonly<Record<string, ShownState>> = {
  opened: { colour: 'good', icon: 'merge_request', word: 'Open' },
  closed: { colour: 'bad', icon: 'merge_request' },
};

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const stateView = (name: string, { colour, icon: sign, word = capitalised(name.replaceAll('_', ' ')) }: ShownState) =>
  html`<span class="${`state ${colour}`}">${icon(sign)}${word}</span>`;

/** The state of anything but a merge request, in the words of the API. */
export const state = (name: string): Html => stateView(name, states[name] ?? waiting);

/** The state of a merge request. */
export const mergeRequestState = (name: string): Html =>
  stateView(name, mergeRequestStates[name] ?? states[name] ?? waiting);

/** A short fact beside a title, such as the visibility of a project. */
export const chip = (text: string, sign?: IconName): Html =>
  html`<span class="chip">${sign && icon(sign)}${text}</span>`;

/**
 * A label: its colour tints the ground and fills a dot, so that its text is readable whatever the colour.
 * @param color `#rrggbb`
 * @param address the list of what has the label
 */
export function label(name: string, color?: string, address?: string): Html {
  const [scope, value] = scopedName(name);
  const inner = html`${
    color &&
    html`<svg aria-hidden="true"><rect width="100%" height="100%" rx="11" fill="${color}"/><circle cx="10" cy="50%" r="4" fill="${color}"/></svg>`
  }${scope !== undefined && html`<i>${scope}</i>`}${value}`;
  return address === undefined
    ? html`<span class="label">${inner}</span>`
    : html`<a class="label" href="${address}">${inner}</a>`;
}

/** `priority::high` as its scope and its value. */
function scopedName(name: string): [scope: string | undefined, value: string] {
  const at = name.lastIndexOf('::');
  return at <= 0 || at + 2 >= name.length ? [undefined, name] : [name.slice(0, at), name.slice(at + 2)];
}
