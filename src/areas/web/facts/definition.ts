/** A page made of the reply of an endpoint, whatever it is. */

import type { Page as ListPage, Values } from '../../../http/index.ts';
import { isRendered, toHtml } from '../../../markdown/index.ts';
import {
  type Content,
  type Described,
  html,
  type Page,
  type PageCall,
  page,
  pager,
  pagingOf,
  person,
  rows,
  sanitised,
  time,
} from '../../../pages/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import { Note } from '../../conversation/notes/index.ts';
import { factsOf, type Showing } from './present.ts';

/** A list on a page of facts. */
interface FactList {
  heading: string;
  operation: string;
  parameters?(reply: Values, call: PageCall): Values;
  /** How an item is shown; by default with all its facts. */
  line?(item: Values): Content;
  empty?: string;
}

interface Facts {
  /** Reads the object; without it, the page has lists only. */
  read?(call: PageCall): Promise<Described>;
  title(reply: Values): string;
  lists?: readonly FactList[];
  /** The endpoint of its comments. */
  notes?: { operation: string; parameters?(reply: Values): Values };
}

const placeOf = (path: string, id: string | undefined) =>
  path.startsWith('/groups/:id')
    ? { id: id!, kind: 'group' as const }
    : path.startsWith('/:id')
      ? { id: id!, kind: 'project' as const }
      : undefined;

function showingFor({ services: { db, url }, caller, params: { id } }: PageCall, path: string): Showing {
  const place = placeOf(path, id);
  const context = place && (place.kind === 'group' ? { group_path: place.id } : { full_path: place.id });
  return {
    url,
    async markdown(text) {
      const linkOf = isRendered(text) ? await linksFor({ db, caller, url }, text, context) : undefined;
      return toHtml(text, { linkOf, images_of: url });
    },
  };
}

/** Items of an endpoint: those of a page, or all. */
const listOf = (reply: unknown): ListPage<Values> =>
  Array.isArray(reply)
    ? { items: reply as Values[], page: 1, per_page: reply.length, has_more: false }
    : (reply as ListPage<Values>);

async function loadList(list: FactList, reply: Values, call: PageCall, showing: Showing) {
  const parameters = { ...pagingOf(call), ...list.parameters?.(reply, call) };
  const found = await call.perhaps(call.described(list.operation, parameters));
  if (!found) return undefined;
  const of = listOf(found.reply);
  const lines = await Promise.all(of.items.map((item) => list.line?.(item) ?? factsOf(item, found.schema, showing)));
  return { list, of, lines };
}

async function loadNotes(
  { operation, parameters }: NonNullable<Facts['notes']>,
  reply: Values,
  call: PageCall,
  showing: Showing,
) {
  const asked = { ...pagingOf(call), sort: 'asc', order_by: 'created_at', ...parameters?.(reply) };
  const found = await call.perhaps(call.list(Note, operation, asked));
  if (!found) return undefined;
  const lines = found.items.map(
    async ({ id, author, created_at, body }) =>
      html`<article id="${`note_${id}`}"><p class="soft">${person(author)} ${time(created_at)}</p>
<div class="text">${sanitised(await showing.markdown(body))}</div></article>`,
  );
  return { of: found, lines: await Promise.all(lines) };
}

/** What the heading and the address of the page say already is left out. */
const withoutHeading = (reply: Values, ...said: string[]): Values =>
  Object.fromEntries(Object.entries(reply).filter(([, value]) => !said.includes(value as string)));

async function load(path: string, about: Facts, call: PageCall) {
  const showing = showingFor(call, path);
  const found = await about.read?.(call);
  const reply = (found ? found.reply : {}) as Values;
  const [shown, notes, ...lists] = await Promise.all([
    found
      ? factsOf(withoutHeading(reply, about.title(reply), showing.url + call.path), found.schema, showing)
      : undefined,
    about.notes && loadNotes(about.notes, reply, call, showing),
    ...(about.lists ?? []).map((list) => loadList(list, reply, call, showing)),
  ]);
  // A page of lists alone is there for those who may see one of them.
  if (!found && lists.every((list) => list === undefined)) await call.described(about.lists![0]!.operation);
  return {
    title: about.title(reply),
    shown,
    notes,
    lists: lists.filter((list) => list !== undefined),
    place: placeOf(path, call.params.id),
  };
}

/**
 * A page of facts.
 * @param path as for `page`
 */
export const factPage = (path: string, about: Facts): Page<Awaited<ReturnType<typeof load>>> =>
  page(path, {
    load: (call) => load(path, about, call),
    view: ({ title, shown, notes, lists, place }, seen) => ({
      title: [title],
      ...(place && { place }),
      main: html`${shown}
${lists.map(
  ({ list, of, lines }) => html`<h2>${list.heading}</h2>
${rows(lines, list.empty ?? 'There are none.')}
${pager(of, seen)}`,
)}
${
  notes &&
  html`<h2>Comments</h2>
${notes.lines.length === 0 ? html`<p class="soft">There are none.</p>` : notes.lines}
${pager(notes.of, seen)}`
}`,
    }),
  });
