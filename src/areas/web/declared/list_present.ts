/** Lists of declared pages: items with what is shown of them, their buttons, the form that edits one, and the form for a new one. */
import type { TSchema } from 'typebox';
import type { Page as ListPage, Values } from '../../../http/index.ts';
import {
  type Content,
  chip,
  day,
  type Field,
  filterForm,
  form,
  hidden,
  html,
  type Operation,
  type PageCall,
  type PageForm,
  pager,
  pagingOf,
  refusalIn,
  rows,
  type Seen,
  textIn,
  time,
  withQuery,
  wordsOf,
} from '../../../pages/index.ts';
import { type DeclaredForm, part } from './definition.ts';
import { fieldsFor, formView, pageFormOf } from './form_present.ts';
import { dotted, textOf } from './views.ts';

/** A button of an item. */
export interface ItemButton {
  runs: Operation;
  label: string;
  parameters?: Values;
  look?: 'plain' | 'danger';
  is_sensitive?: true;
  shows?: DeclaredForm['shows'];
  /** Of which items it is a button. */
  isFor?(item: Values): boolean;
  done?: string;
  /** Further fields that are asked beside the button, as options of a selection. */
  asks?: (item: Values) => readonly Field[];
}

export interface DeclaredList {
  list: Operation;
  heading?: string;
  intro?: Content;
  /** Parameters of the list. */
  given?(call: PageCall): Values;
  /** Parameters of the list that are asked for above it. */
  filters?: readonly Field[];
  /** Only some of the items that the list has. */
  only?(item: Values, call: PageCall): boolean;
  /** The parameters by which forms name an item, with their values. */
  names(item: Values): Readonly<Record<string, string | number>>;
  /** The member of an item that names it, or its name. */
  title: string | ((item: Values) => string);
  /** Its name as it is shown, if that is not a text. */
  head?(item: Values, seen: Seen): Content;
  /** The members that are shown below it, or their view. */
  line?: readonly string[] | ((item: Values, seen: Seen) => Content);
  empty: string;
  create?: DeclaredForm;
  edit?: DeclaredForm;
  buttons?: Readonly<Record<string, ItemButton>>;
}

interface Json {
  format?: string;
  anyOf?: (Json & { type?: string })[];
  type?: string;
}

/** A member of an item in words: what is true as a mark, lists as marks, times by their distance. */
function memberView(name: string, value: unknown, schema: TSchema | undefined): Content {
  if (value === undefined || value === null || value === '' || value === false) return undefined;
  if (value === true) return chip(wordsOf(name));
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((each) => [chip(String(each)), ' ']);
  const { anyOf, ...own } = (schema ?? {}) as Json;
  const { format } = anyOf?.find(({ type }) => type !== 'null') ?? own;
  const word = wordsOf(name.replace(/_(at|on)$/, ''));
  if (format === 'date-time') return [word, ' ', time(String(value))];
  if (format === 'date') return [word, ' ', day(String(value))];
  return typeof value === 'object' ? undefined : `${word}: ${value}`;
}

type Properties = Readonly<Record<string, TSchema>>;

interface Loaded {
  of: ListPage<Values>;
  properties: Properties;
  created: readonly Field[] | undefined;
  /** The fields of the item that is edited. */
  edited: { key: string; fields: readonly Field[] } | undefined;
}

/** The items of a reply: a page of them, or all. */
const listOf = (reply: unknown): ListPage<Values> =>
  Array.isArray(reply)
    ? { items: reply as Values[], page: 1, per_page: reply.length, has_more: false }
    : (reply as ListPage<Values>);

/** What was asked for. */
const filtersIn = (call: PageCall, filters: readonly Field[] = []): Values =>
  Object.fromEntries(
    filters.flatMap(({ name }) => (textIn(call.query, name) === undefined ? [] : [[name, textIn(call.query, name)]])),
  );

/** The parameter that chooses which item of a list is edited. */
const editName = (name: string): string => `edit_${name}`;

/**
 * A list of a noun.
 * @param name its forms begin with it
 */
export function listPart(name: string, declared: DeclaredList) {
  const { list, names, create, edit, buttons = {}, line = [] } = declared;
  const titleOf = (item: Values) =>
    typeof declared.title === 'string' ? textOf(item, declared.title) : declared.title(item);
  const keyOf = (item: Values) => Object.values(names(item)).join(' ');
  const hiddenOf = (item: Values) => Object.entries(names(item)).map(([own, value]) => hidden(own, value));
  const formName = (own: string) => `${own}_${name}`;
  const forms: Record<string, PageForm> = {
    ...(create && { [formName('create')]: pageFormOf(create) }),
    ...(edit && { [formName('edit')]: pageFormOf(edit) }),
    ...Object.fromEntries(Object.entries(buttons).map(([own, button]) => [formName(own), pageFormOf(button)])),
  };
  const done = {
    [formName('create')]: create?.done ?? 'Added.',
    [formName('edit')]: edit?.done ?? 'Saved.',
    ...Object.fromEntries(Object.entries(buttons).map(([own, { done: text }]) => [formName(own), text ?? 'Done.'])),
  };

  /** The item that is edited: the one that the query or the refused form names. */
  async function editedOf(call: PageCall, items: readonly Values[]): Promise<Loaded['edited']> {
    const asked = call.query[editName(name)];
    const item = items.find((each) => keyOf(each) === asked);
    if (!edit || !item) return undefined;
    return { key: keyOf(item), fields: await fieldsFor(call, edit, item) };
  }

  const itemView = (item: Values, { properties, edited }: Loaded, seen: Seen): Content => {
    const id = keyOf(item);
    const named = html`<span class="visually-hidden">${titleOf(item)}</span>`;
    const isEdited = edited?.key === id;
    const shown = Object.entries(buttons).filter(([, { isFor }]) => isFor?.(item) ?? true);
    const editing =
      isEdited &&
      edit &&
      form(seen, formName('edit'), {
        fields: [...hiddenOf(item), ...edited.fields],
        button: edit.button,
        key: id,
        action: withQuery(seen, { done: undefined }),
      });
    return html`<strong>${declared.head?.(item, seen) ?? titleOf(item)}</strong>
<div class="soft">${
      typeof line === 'function'
        ? line(item, seen)
        : dotted(line.map((member) => memberView(member, item[member], properties[member])))
    }</div>
${editing}<div class="actions">${
      edit &&
      !isEdited &&
      seen.may(formName('edit')) &&
      html`<a class="button" href="${withQuery(seen, { [editName(name)]: id, done: undefined })}">Edit ${named}</a>`
    }${shown.map(([own, { label, look = 'plain', asks }]) =>
      form(seen, formName(own), {
        fields: [...hiddenOf(item), ...(asks?.(item) ?? [])],
        button: html`${label} ${named}`,
        look,
        key: id,
      }),
    )}</div>`;
  };

  return part<Loaded>({
    forms,
    done,
    async load(call) {
      const found = await call.described(list, {
        ...pagingOf(call, name),
        ...declared.given?.(call),
        ...filtersIn(call, declared.filters),
      });
      const page = listOf(found.reply);
      const items = page.items.filter((item) => declared.only?.(item, call) ?? true);
      const [created, edited] = await Promise.all([create && fieldsFor(call, create), editedOf(call, items)]);
      const properties = (found.schema as { properties?: Properties }).properties ?? {};
      return { of: { ...page, items }, properties, created, edited };
    },
    view(data, seen) {
      const { of, created } = data;
      const isRefused = refusalIn(seen, formName('create')) !== undefined;
      const isTried = create?.tries !== undefined && seen.query[create.tries.name] !== undefined;
      return html`${declared.heading && html`<h2>${declared.heading}</h2>`}${declared.intro && html`<p class="soft">${declared.intro}</p>`}${declared.filters && filterForm(seen, declared.filters, 'Filter')}
${rows(
  of.items.map((item) => itemView(item, data, seen)),
  declared.empty,
)}
${pager(of, seen, name)}
${
  create &&
  created &&
  seen.may(formName('create')) &&
  html`<details class="new" ?open="${of.items.length === 0 || isRefused || isTried}"><summary class="button">${create.heading ?? create.button}</summary>
${formView(seen, formName('create'), { ...create, heading: '' }, created)}</details>`
}`;
    },
  });
}
