/** Generic pages made from the reply of an endpoint. */

import type { Page as ListPage, Values } from '../../../http/index.ts';
import {
  type Content,
  type Described,
  html,
  type Operation,
  type Page,
  type PageCall,
  page,
  pager,
  pagingOf,
  rows,
} from '../../../pages/index.ts';
import { type TextPlace, textsAsHtml } from '../issuables/present.ts';
import { factsOf, type Showing } from './present.ts';

/** A list on a page of facts. */
interface FactList {
  heading: string;
  operation: Operation;
  parameters?(reply: Values, call: PageCall): Values;
  /** The view of an item; by default all its facts. */
  line?(item: Values): Content;
  empty?: string;
}

export interface Facts {
  /** Reads the object; if omitted, the page consists only of lists. */
  read?(call: PageCall): Promise<Described>;
  title(reply: Values): string;
  /** The tab of its section. */
  tab?: string;
  lists?: readonly FactList[];
}

/** The project or group in an address, with its id if the reply contains it. */
function placeOf(path: string, { params: { id } }: PageCall, { project_id, group_id }: Values): TextPlace | undefined {
  const kind = path.startsWith('/groups/:id') ? 'group' : path.startsWith('/:id') ? 'project' : undefined;
  if (kind === undefined) return undefined;
  const given = kind === 'group' ? group_id : project_id;
  return { kind, full_path: id!, ...(typeof given === 'number' ? { id: given } : {}) };
}

const showingFor = (call: PageCall, place: TextPlace | undefined): Showing => ({
  url: call.services.url,
  markdown: async (text) => (await textsAsHtml(call, place, [text]))[0],
});

/** The items of a reply: a page of them, or all. */
const listOf = (reply: unknown): ListPage<Values> =>
  Array.isArray(reply)
    ? { items: reply as Values[], page: 1, per_page: reply.length, has_more: false }
    : (reply as ListPage<Values>);

/** `Child epics` as `child_epics`, in the query of the page. */
const nameOf = ({ heading }: FactList): string => heading.toLowerCase().replaceAll(' ', '_');

async function loadList(list: FactList, reply: Values, call: PageCall, showing: Showing) {
  const parameters = { ...pagingOf(call, nameOf(list)), ...list.parameters?.(reply, call) };
  const found = await call.perhaps(call.described(list.operation, parameters));
  if (!found) return undefined;
  const of = listOf(found.reply);
  const lines = await Promise.all(of.items.map((item) => list.line?.(item) ?? factsOf(item, found.schema, showing)));
  return { list, of, lines };
}

/** Omits the fields already shown in the heading and the address of the page. */
const withoutHeading = (reply: Values, ...said: string[]): Values =>
  Object.fromEntries(Object.entries(reply).filter(([, value]) => !said.includes(value as string)));

async function load(path: string, about: Facts, call: PageCall) {
  const found = await about.read?.(call);
  const reply = (found ? found.reply : {}) as Values;
  const place = placeOf(path, call, reply);
  const showing = showingFor(call, place);
  const [shown, ...lists] = await Promise.all([
    found
      ? factsOf(withoutHeading(reply, about.title(reply), showing.url + call.path), found.schema, showing)
      : undefined,
    ...(about.lists ?? []).map((list) => loadList(list, reply, call, showing)),
  ]);
  // A page of lists only requires the right to see at least one of them.
  if (!found && lists.every((list) => list === undefined)) await call.described(about.lists![0]!.operation);
  return {
    title: about.title(reply),
    shown,
    lists: lists.filter((list) => list !== undefined),
    place: place && { id: place.full_path, kind: place.kind, ...(about.tab !== undefined && { tab: about.tab }) },
  };
}

/**
 * A page of facts.
 * @param path as for `page`
 */
export const factPage = (path: string, about: Facts): Page<Awaited<ReturnType<typeof load>>> =>
  page(path, {
    load: (call) => load(path, about, call),
    view: ({ title, shown, lists, place }, seen) => ({
      title: [title],
      ...(place && { place }),
      main: html`${shown}
${lists.map(
  ({ list, of, lines }) => html`<h2>${list.heading}</h2>
${rows(lines, list.empty ?? 'There are none.')}
${pager(of, seen, nameOf(list))}`,
)}`,
    }),
  });
