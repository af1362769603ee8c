/** Rendering a value of the API as page content, by its schema. */
import type { TSchema } from 'typebox';
import { type Marked, type Marks, marks } from '../../../http/index.ts';
import { type Content, day, facts, html, linkTarget, person, time } from '../../../pages/index.ts';

/** The maximum number of items shown of a list, and of levels shown below a value. */
const [shownItems, shownLevels] = [100, 4];
/** The maximum length shown of a text; the API returns all of it. */
const shownCharacters = 20_000;

/** The functions for showing values. */
export interface Showing {
  /** The external address of the server, without a trailing slash. */
  url: string;
  /** Renders Markdown to HTML. */
  markdown(text: string): Promise<Content>;
}

/** How the schema says that a value is shown. Ids are for programs. */
function shownBy(schema: TSchema): Marks['shown'] {
  const { shown, largest_id } = (schema as Marked)[marks] ?? {};
  return largest_id === undefined ? shown : 'never';
}

interface Names {
  [name: string]: unknown;
}

const isObject = (value: unknown): value is Names =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `first_seen_at` as “First seen at”. */
const labelOf = (name: string): string => {
  const words = name.replaceAll('_', ' ').replace(/\burls?\b/, 'address');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

function textOf(text: string, schema: TSchema & { format?: string }, { url }: Showing): Content {
  if (schema.format === 'date-time') return time(text);
  if (schema.format === 'date') return day(text);
  if (shownBy(schema) === 'link' && /^https?:/.test(text))
    return html`<a href="${linkTarget(text, url)}" rel="nofollow noopener">${text}</a>`;
  if (text.length > shownCharacters) return [text.slice(0, shownCharacters), ' … (cut off)'];
  return text.includes('\n') ? html`<pre>${text}</pre>` : text;
}

/** A link to a person, or to anything else with a page. */
function linkTo(value: Names, { url }: Showing): Content {
  const { username, name, title, web_url } = value;
  if (typeof username === 'string' && typeof name === 'string') return person({ username, name });
  const text = title ?? name;
  if (typeof text === 'string' && typeof web_url === 'string' && web_url.startsWith(`${url}/`))
    return html`<a href="${linkTarget(web_url, url)}">${text}</a>`;
  return undefined;
}

/** The inner schema of a nullable value or a union. */
function insideOf(
  schema: TSchema,
): TSchema & { properties?: Record<string, TSchema>; items?: TSchema; format?: string } {
  const { anyOf } = schema as { anyOf?: TSchema[] };
  return anyOf ? (anyOf.find((each) => (each as { type?: string }).type !== 'null') ?? schema) : schema;
}

async function contentOf(value: unknown, of: TSchema, showing: Showing, level: number): Promise<Content> {
  const schema = insideOf(of);
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'string' && shownBy(schema) === 'markdown') return showing.markdown(value);
  if (typeof value === 'string') return textOf(value, schema, showing);
  if (Array.isArray(value)) {
    if (value.length === 0) return undefined;
    const shown = value.slice(0, shownItems).map((each) => contentOf(each, schema.items ?? {}, showing, level));
    const items = await Promise.all(shown);
    return html`<ul>${items.map((item) => html`<li>${item}</li>`)}${value.length > shownItems && html`<li>… ${value.length - shownItems} more</li>`}</ul>`;
  }
  if (!isObject(value)) return String(value);
  const link = level > 0 && linkTo(value, showing);
  if (link) return link;
  return level < shownLevels ? factsOf(value, schema, showing, level + 1) : undefined;
}

/**
 * The fields of a value with their labels and their schemas.
 * @param value an object
 */
export async function factsOf(value: unknown, schema: TSchema, showing: Showing, level = 0): Promise<Content> {
  const properties = insideOf(schema).properties ?? {};
  const members = Object.entries(isObject(value) ? value : {}).filter(
    ([name]) => shownBy(insideOf(properties[name] ?? {})) !== 'never',
  );
  const shown = members.map(async ([name, member]) => {
    const of = properties[name] ?? {};
    const content = await contentOf(member, of, showing, level + 1);
    const { description: help } = of as { description?: string };
    const isShort = content !== undefined && level === 0 && help !== undefined;
    return [
      labelOf(name),
      isShort ? html`${content} <span class="help">${help.replaceAll('`', '')}</span>` : content,
    ] as const;
  });
  return facts(await Promise.all(shown));
}
