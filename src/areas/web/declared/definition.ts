/**
 * Pages that are declared: each is a list of parts, such as a list of a noun with its forms, or a form over some fields of one. What differs from that is a part with
 * a view of its own (docs/adding_a_settings_page.md).
 */
import { forbidden, type Values } from '../../../http/index.ts';
import {
  type Content,
  Html,
  html,
  type Operation,
  type Option,
  type Over,
  type Page,
  type PageCall,
  type PageForm,
  type ParametersOf,
  type Place,
  page,
  type Seen,
  type View,
} from '../../../pages/index.ts';
import { type MapName, mapFor, mappedPage, type PageName } from '../house/map_rules.ts';
import { mapView } from './views.ts';

/** A part of a page: what it reads, its forms, and its view. */
export interface Part<Data> {
  /** By their names, which are unique on the page. */
  forms?: Readonly<Record<string, PageForm>>;
  /** The sentences that are shown after its forms have been sent, by form. */
  done?: Readonly<Record<string, string>>;
  /** @returns undefined if it is not shown */
  load(call: PageCall): Promise<Data | undefined>;
  view(data: Data, seen: Seen): Content;
}

// biome-ignore lint/suspicious/noExplicitAny: the parts of a page have data of many types, each checked where it is written.
export type AnyPart = Part<any>;

/** A part with its types. */
export const part = <Data>(own: Part<Data>): Part<Data> => own;

/** What a form says about one of its fields. */
export interface DeclaredField extends Over {
  /** The options, if they are what exists. Without any, the field is left out. */
  choices?(call: PageCall): Promise<readonly Option[]>;
  /** Whether it can be changed of what is edited. */
  isFor?(reply: Values): boolean;
  /** The value that is edited, if it is not the member of the reply with the name of the parameter. */
  from?(reply: Values): unknown;
}

/** A form that is declared: the operation, and its parameters in the order in which they are asked. */
export interface DeclaredForm {
  runs: Operation;
  fields: Readonly<Record<string, DeclaredField>>;
  button: string;
  heading?: string;
  intro?: Content;
  parameters?: Values;
  look?: 'plain' | 'danger';
  is_sensitive?: true;
  /** What is shown once, instead of the page, of the reply. */
  shows?(reply: Values, call: PageCall): View;
  /** The text that must be typed. */
  typed?(call: PageCall): string | Promise<string>;
  /** The sentence that is shown afterwards. */
  done?: string;
  /** The address to go to afterwards; by default the page itself. */
  next?(reply: Values, call: PageCall): string;
  /** A further button that asks for the page with what is typed in its query, which changes nothing. */
  tries?: { name: string; button: string };
  /** What something new starts with, by parameter, where that depends on what there is already. */
  starts?(call: PageCall): Promise<Values>;
}

/** The parameters of an operation, and members of them: `levels[0][access_level]`. */
type FieldsOf<O extends Operation> = {
  readonly [Name in keyof ParametersOf<O> | `${string & keyof ParametersOf<O>}[${string}]`]?: DeclaredField;
};

/** A form for an operation. Its fields are parameters of it. */
export const formOf = <O extends Operation>(
  runs: O,
  fields: NoInfer<FieldsOf<O>>,
  rest: Omit<DeclaredForm, 'runs' | 'fields'>,
): DeclaredForm => ({ runs, fields: fields as DeclaredForm['fields'], ...rest });

/** Fields that several forms share, such as those for creation and changes. */
export const fieldsOf = <Fields extends Readonly<Record<string, DeclaredField>>>(fields: Fields): Fields => fields;

/** Where a declared page belongs: its map, the page of the map that is current, and its own path and title if it is below that. */
interface Placed {
  path?: string;
  /** The operation that callers need to be allowed to run, if it is not that of the page of the map. */
  operation?: Operation;
  title?: string;
  intro?: Content;
  /** The heading, if it depends on the call, such as the name of what is shown. */
  titled?(call: PageCall): Promise<string>;
}

/** A call that runs each query only once, since several parts of a page read the same object. */
function withMemory(call: PageCall): PageCall {
  const known = new Map<string, ReturnType<PageCall['described']>>();
  return {
    ...call,
    described(operation, parameters) {
      const key = `${operation} ${JSON.stringify(parameters ?? {})}`;
      const answer = known.get(key) ?? call.described(operation, parameters);
      known.set(key, answer);
      return answer;
    },
  };
}

/** The object that a map belongs to. Reading it hides the page from those who may not see the object. */
const readers = { project: 'getProject', group: 'getGroup', own: undefined, admin: undefined } as const;

/** The place of a page in the header. */
const placeOf = (map: MapName, { params: { id } }: PageCall): Place | undefined =>
  map === 'project' || map === 'group' ? { id: id!, kind: map, tab: 'settings' } : undefined;

async function loadParts(parts: readonly AnyPart[], call: PageCall) {
  const shared = withMemory(call);
  return Promise.all(parts.map((own) => call.perhaps(own.load(shared))));
}

interface Loaded {
  title: string;
  place: Place | undefined;
  map: Awaited<ReturnType<typeof mapFor>>;
  data: readonly unknown[];
}

/** The address after a form: the page with the sentence that says what has happened. */
const doneAt = (path: string, name: string): string => `${path}?done=${name}`;

/** The forms of all parts. Each leads to the page, which then says what has happened. */
function formsOf(parts: readonly AnyPart[]): Record<string, PageForm> {
  const all = parts.flatMap(({ forms = {} }) => Object.entries(forms));
  return Object.fromEntries(
    all.map(([name, form]) => [
      name,
      'runs' in form && !form.next && !form.shows ? { ...form, next: (_reply, { path }) => doneAt(path, name) } : form,
    ]),
  );
}

function doneView(parts: readonly AnyPart[], { query, refused }: Seen): Html | undefined {
  const text = parts.map(({ done = {} }) => done[String(query.done)]).find((each) => each !== undefined);
  return text === undefined || refused ? undefined : html`<p class="notice good" role="status">${text}</p>`;
}

/** The parts that are shown, and above them what has happened. */
const partsView = (parts: readonly AnyPart[], data: readonly unknown[], seen: Seen): Content => [
  doneView(parts, seen),
  ...parts.map((each, index) => data[index] !== undefined && each.view(data[index], seen)),
];

/**
 * A page of a map, with the pages of the map beside it.
 * @param name the page of the map that is current
 */
export function settingsPage<Name extends MapName>(
  map: Name,
  name: PageName<Name>,
  parts: readonly AnyPart[],
  { path, operation, title, intro, titled }: Placed = {},
): Page<Loaded> {
  const own = { ...mappedPage(map, name), ...(operation && { operation }) };
  const reader = path?.startsWith('/:id/') ? 'getProject' : path?.startsWith('/groups/') ? 'getGroup' : readers[map];
  return page(path ?? own.path, {
    signed_in: true,
    async load(call) {
      if (own.operation !== undefined && !(await call.may(own.operation))) {
        if (reader) await call.described(reader);
        throw forbidden();
      }
      const [shownMap, data, named] = await Promise.all([mapFor(map, call), loadParts(parts, call), titled?.(call)]);
      return { title: named ?? title ?? own.label, place: placeOf(map, call), map: shownMap, data };
    },
    forms: formsOf(parts),
    view: ({ title: heading, place, map: shownMap, data }, seen) => ({
      title: [heading, place?.id ?? (map === 'admin' ? 'Administration' : 'Settings')],
      ...(place && { place }),
      main: html`${mapView(shownMap, name)}<div class="stack">${intro && html`<p class="soft">${intro}</p>`}${partsView(parts, data, seen)}</div>`,
    }),
  });
}

/** Where a declared page of a section belongs. */
interface InSection {
  /** The page of the section that is current. */
  tab: string;
  /** The operation that callers need to be allowed to run. */
  operation: Operation;
  title: string;
  /** The heading, if it depends on the call, such as the name of what is shown. */
  titled?(call: PageCall): Promise<string>;
}

/**
 * A page of a section of a project or group, for callers who are signed in.
 * @param path as for `page`
 */
export function sectionPage(
  path: `/:id/${string}` | `/groups/:id/${string}`,
  { tab, operation, title, titled }: InSection,
  parts: readonly AnyPart[],
) {
  const kind = path.startsWith('/groups/') ? 'group' : 'project';
  return page(path, {
    signed_in: true,
    async load(call) {
      if (!(await call.may(operation))) {
        await call.described(readers[kind]);
        throw forbidden();
      }
      const [named, data] = await Promise.all([titled?.(call), loadParts(parts, call)]);
      return { id: call.params.id!, named, data };
    },
    forms: formsOf(parts),
    view: ({ id, named, data }, seen) => ({
      title: [...(named === undefined ? [] : [named]), title, id],
      place: { id, kind, tab },
      main: html`<div class="stack">${partsView(parts, data, seen)}</div>`,
    }),
  });
}

/** A page of a map that is written by hand, with the pages of the map beside it. */
export function besideMap<Name extends MapName, Data>(
  map: Name,
  name: PageName<Name>,
  own: Page<Data>,
): Page<{ data: Data; map: Loaded['map'] }> {
  return page(own.path, {
    ...own,
    async load(call) {
      const [data, shownMap] = await Promise.all([own.load(call), mapFor(map, call)]);
      return { data, map: shownMap };
    },
    view({ data, map: shownMap }, seen) {
      const view = own.view(data, seen);
      if (!(view.main instanceof Html)) throw new Error(`${own.path} comes in pieces.`);
      return { ...view, main: html`${mapView(shownMap, name)}<div>${view.main}</div>` };
    },
  });
}
