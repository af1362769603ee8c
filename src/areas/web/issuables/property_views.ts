/** The properties of an issue or merge request, each of which is changed where it is read (docs/reference/work_pages.md#properties). */
import type { Values } from '../../../http/index.ts';
import {
  type Content,
  type Field,
  form,
  type Html,
  hidden,
  html,
  icon,
  type Seen,
  textIn,
  withQuery,
} from '../../../pages/index.ts';

/** A property, with its value as it is shown; a value that is missing, or an empty text, is shown as none. */
export interface Property {
  /** Its name in `?change=`; a property without one cannot be changed here. */
  name?: string;
  label: string;
  shown: Content;
  /** A form of its own with a single button, such as the one to assign the item to oneself. */
  shortcut?: { button: string; fields: readonly Field[] } | undefined;
  /** The form of the page that the reader needs to be allowed to send; by default `change`. */
  needs?: string;
  /** What is in place of its value while it is changed, if that is not the form for its fields. */
  forms?: Content;
}

/** The property that is being changed. */
export const changedProperty = (query: Values): string | undefined => textIn(query, 'change');

/** A part of the names of the choices that were searched for. */
export const choiceSearched = (query: Values): string | undefined => textIn(query, 'find');

/** From this number of choices on, they can be searched. */
const manyChoices = 20;

const isNone = (shown: Content): boolean =>
  shown === undefined ||
  shown === null ||
  shown === false ||
  shown === '' ||
  (Array.isArray(shown) && shown.length === 0);

/** The field that narrows the choices: it searches on the server, and with JavaScript hides at once what does not match. */
const choiceSearch = (seen: Seen, name: string, label: string): Html =>
  html`<form method="get" action="${seen.path}" class="single"><input type="hidden" name="change" value="${name}"><input type="search" name="find" value="${choiceSearched(seen.query) ?? ''}" aria-label="${`Search ${label.toLowerCase()}`}" placeholder="Search…" data-filter="change"></form>`;

/** The form for a property, in place of its value. */
function changeForm(seen: Seen, { name, label }: Property, fields: readonly Field[]): Html {
  const isLong = fields.some(({ options = [] }) => options.length >= manyChoices) || choiceSearched(seen.query);
  return html`${isLong && choiceSearch(seen, name!, label)}${form(seen, 'change', {
    fields,
    button: `Save ${label.toLowerCase()}`,
    action: withQuery(seen, { change: name }),
  })}`;
}

const cancelLink = (seen: Seen): Html =>
  html`<a class="button" data-part href="${withQuery(seen, { change: undefined, find: undefined })}">Cancel</a>`;

const isChangeable = (seen: Seen, { name, needs = 'change' }: Property): boolean =>
  name !== undefined && seen.may(needs);

function propertyView(seen: Seen, property: Property, fields: readonly Field[] | undefined): Html {
  const { name, label, shown, shortcut, forms } = property;
  const mayChange = isChangeable(seen, property);
  const isChanged = mayChange && (fields !== undefined || forms !== undefined) && changedProperty(seen.query) === name;
  const pencil =
    mayChange &&
    !isChanged &&
    html`<a class="quiet" data-part href="${`${withQuery(seen, { change: name, find: undefined })}#about`}" aria-label="${`Change ${label.toLowerCase()}`}">${icon('pencil')}</a>`;
  const quick =
    mayChange &&
    shortcut &&
    form(seen, 'change', { ...shortcut, look: 'plain', key: name, action: withQuery(seen, {}) });
  return html`<div><dt>${label}${pencil}</dt><dd>${
    isChanged
      ? [forms ?? changeForm(seen, property, fields ?? []), cancelLink(seen)]
      : [isNone(shown) ? html`<span class="soft">None</span>` : shown, quick]
  }</dd></div>
`;
}

/**
 * The properties of an item. Those without a value that the reader can change are named in one line.
 * @param fields of the property that is being changed
 */
export function propertiesView(
  seen: Seen,
  properties: readonly Property[],
  fields: readonly Field[] | undefined,
): Html {
  const changed = changedProperty(seen.query);
  const isMinor = ({ name, shown, shortcut }: Property) =>
    isNone(shown) && !shortcut && (name === undefined || name !== changed);
  const minor = properties.filter((each) => isMinor(each) && isChangeable(seen, each));
  return html`<dl class="props">
${properties.filter((each) => !isMinor(each)).map((each) => propertyView(seen, each, fields))}</dl>
${
  minor.length > 0 &&
  html`<p class="soft">Add ${minor.map(
    ({ name, label }, index) =>
      html`${index > 0 && ', '}<a data-part href="${`${withQuery(seen, { change: name, find: undefined })}#about`}">${label.toLowerCase()}</a>`,
  )}</p>`
}`;
}

/** Hidden fields that assign an item to people. */
export const assigningFields = (name: string, ids: readonly number[]): readonly Field[] =>
  ids.map((id) => hidden(`${name}[]`, id));
