/**
 * Templates of HTML. A value is escaped according to the position of its hole, so that no text becomes markup. html`<a href="${url}">${title}</a>`
 * A hole may be text between tags, the value of an attribute in double quotes, or the presence of an attribute: `<input ?checked="${is_done}"
 * ?max="${most}">`.
 */
import { escapeHtml } from '../texts/index.ts';

/** Safe markup: from a template, or from a program that sanitises its output. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

/** The values for a hole between tags. Undefined, null and false produce no output. */
export type Content = Html | string | number | undefined | null | false | readonly Content[];

/**
 * Markup of a program that sanitises it, such as the one for Markdown.
 * @param lowered by how many levels its headings are lowered, since the page has headings of its own
 */
export const sanitised = (markup: string, lowered = 0): Html =>
  new Html(
    lowered === 0
      ? markup
      : markup.replaceAll(
          /<(\/?)h([1-6])(?=[ >])/g,
          (_, slash, level) => `<${slash}h${Math.min(6, Number(level) + lowered)}`,
        ),
  );

/** The position of a hole. */
type Hole = 'text' | 'attribute' | 'address' | 'optional';

/** Attributes that a browser follows or loads. */
const addresses = new Set(['href', 'src', 'action', 'formaction', 'poster', 'cite', 'srcset']);
/** The content of these elements is no HTML, and attributes of these names are scripts or styles. */
const forbiddenPlace = /<(script|style)\b[^>]*>[^<]*$/i;
const forbiddenName = /^(on.*|style|srcdoc)$/i;
const attributeStart = /([\s"]([?]?)([a-zA-Z][\w:-]*))="$/;

/** The kind of a hole behind a text, which is the whole template before it. */
function holeBehind(before: string): Hole {
  const open = before.lastIndexOf('<');
  const isInTag = open > before.lastIndexOf('>') && /^<[a-zA-Z]/.test(before.slice(open));
  if (!isInTag) {
    if (forbiddenPlace.test(before)) throw new Error(`A hole in a script or style: ${before.slice(-40)}`);
    return 'text';
  }
  const tag = before.slice(open);
  const quotes = tag.split('"').length - 1;
  if (quotes % 2 === 0) throw new Error(`A hole in a tag outside of quotes: ${tag.slice(-40)}`);
  const [, , mark, name] = attributeStart.exec(tag.slice(0, tag.lastIndexOf('"') + 1)) ?? [];
  if (name === undefined || forbiddenName.test(name))
    throw new Error(`A hole in a forbidden attribute: ${tag.slice(-40)}`);
  if (mark === '?' && addresses.has(name.toLowerCase()))
    throw new Error(`An address that may be absent: ${tag.slice(-40)}`);
  if (mark === '?') return 'optional';
  const isFirst = tag.endsWith('="');
  return addresses.has(name.toLowerCase()) && isFirst ? 'address' : 'attribute';
}

/** A template that was looked through once: its texts, and the kinds of the holes between them, with the names of attributes that may be absent. */
interface Template {
  texts: readonly string[];
  holes: readonly Hole[];
  names: readonly string[];
}

const templates = new WeakMap<TemplateStringsArray, Template>();

function templateOf(strings: TemplateStringsArray): Template {
  const known = templates.get(strings);
  if (known) return known;
  // In place of each hole a character that changes nothing of what follows.
  const holes = strings.slice(1).map((_, index) => holeBehind(strings.slice(0, index + 1).join('x')));
  const texts = strings.map((text, index) => {
    const start = holes[index - 1] === 'optional' ? text.slice(1) : text;
    return holes[index] === 'optional' ? start.replace(/\s\?[\w-]+="$/, '') : start;
  });
  const names = strings.map((text) => /\?([\w-]+)="$/.exec(text)?.[1] ?? '');
  const template = { texts, holes, names };
  templates.set(strings, template);
  return template;
}

/** An attribute that is absent for undefined, null and false, and has no value for true. */
function optionalAttribute(name: string, value: unknown): string {
  if (value === true) return ` ${name}`;
  return value === undefined || value === null || value === false ? '' : ` ${name}="${escapeHtml(String(value))}"`;
}

/** Addresses of our own and of the web; others, such as scripts, lead nowhere. */
export function safeAddress(address: string): string {
  // Browsers leave these characters out, wherever they are.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(address.replaceAll(/[\s\p{Cc}]/gu, ''))?.[1]?.toLowerCase();
  return scheme === undefined || ['http', 'https', 'mailto', 'ssh', 'git'].includes(scheme) ? address : '#';
}

function textOf(content: Content): string {
  if (content instanceof Html) return content.text;
  if (content === undefined || content === null || content === false) return '';
  if (typeof content === 'string') return escapeHtml(content);
  if (typeof content === 'number') return String(content);
  let text = '';
  for (const each of content) text += textOf(each);
  return text;
}

const attributeText = (value: unknown): string =>
  value === undefined || value === null || value === false ? '' : escapeHtml(String(value));

/** Markup with interpolated values, each escaped according to its position. */
export function html(strings: TemplateStringsArray, ...values: readonly (Content | boolean)[]): Html {
  const { texts, holes, names } = templateOf(strings);
  let text = texts[0]!;
  for (let index = 0; index < holes.length; index++) {
    const [hole, value] = [holes[index], values[index]];
    if (hole === 'text') text += textOf(value as Content);
    else if (hole === 'optional') text += optionalAttribute(names[index]!, value);
    else text += hole === 'address' ? escapeHtml(safeAddress(String(value ?? ''))) : attributeText(value);
    text += texts[index + 1]!;
  }
  return new Html(text);
}
