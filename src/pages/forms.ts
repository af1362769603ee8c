/** Forms of pages. Their fields are parameters of the endpoint that a form runs. */
import { createHash } from 'node:crypto';
import { type ApiError, reasonsOf, textOf, type Values } from '../http/index.ts';
import { editorAddress } from './editor_assets.ts';
import { type Content, type Html, html } from './html.ts';
import { filterName, type RefusedForm, type Seen, type View } from './page.ts';

export interface Option {
  value: string | number;
  label: string;
  /** What is shown in place of the label beside a box. */
  view?: Content;
}

/** A field, by the name of a parameter. */
export interface Field {
  name: string;
  label: string;
  /** Of `checkboxes`, each option has a box, and the ticked ones are sent as a list. */
  kind?:
    | 'text'
    | 'area'
    | 'markdown'
    | 'checkbox'
    | 'checkboxes'
    | 'select'
    | 'date'
    | 'datetime-local'
    | 'number'
    | 'password'
    | 'email'
    | 'color'
    | 'hidden'
    | 'file';
  value?: string | number | boolean | null | undefined;
  options?: readonly Option[];
  /** The values that are chosen in a list of which several can be. */
  chosen?: readonly (string | number)[];
  is_required?: true;
  /** Whether it is only shown. */
  is_readonly?: true;
  help?: Content;
  /** The `autocomplete` name, by which browsers fill it in. */
  autocomplete?: string;
  /** The length of a text. */
  maximum?: number;
  /** Whether several files can be chosen. */
  is_multiple?: true;
  /** The height of an area, in lines. */
  rows?: number;
  /** The name of the file that an area holds the text of: where JavaScript is on, it becomes an editor for code. */
  code_of?: string;
  /** Whether an empty text clears the old value, instead of being omitted; `null` for parameters that empty text does not clear. */
  is_clearable?: true | 'null';
  /** Further names that refusals use for it. */
  refused_as?: readonly string[];
}

/** A hidden field. */
export const hidden = (name: string, value: Field['value']): Field => ({ name, label: '', kind: 'hidden', value });

/** The field into which a text is typed to confirm a form (`typed` of the form). */
export const confirmation = (text: string): Field => ({
  name: 'typed',
  label: 'To confirm',
  help: html`Type <code>${text}</code>`,
  is_required: true,
  autocomplete: 'off',
});

export interface FormParts {
  fields?: readonly Field[];
  /** The label of the button. */
  button: Content;
  look?: 'plain' | 'danger' | 'own';
  /** Another form of the page with the same fields, as a second button. */
  also?: { name: string; button: Content };
  /** A further button that asks for the page with what is typed in its query, which changes nothing. */
  tries?: { name: string; button: Content };
  /** Tells forms of the same name on a page apart, and is in the ids of their fields. */
  key?: string | number;
  /** What it edits, as `edits` of the form gives it. */
  edited?: readonly unknown[];
  /** Asks the browser for a key of the user (WebAuthn) when it is sent, which takes JavaScript. The answer is in the field `answer`. */
  key_request?: KeyRequest;
  /** The address that it is posted to, where the query of the page matters; by default its path. */
  action?: string;
}

/** What a browser is asked for: a new key, or the answer of one. */
export interface KeyRequest {
  kind: 'create' | 'get';
  /** The options of the Web Authentication API, in JSON. */
  options: string;
}

const namesOf = ({ name, refused_as = [] }: Field): string[] => [name, ...refused_as];

/** The errors of a field. */
function reasonsFor(field: Field, refused: RefusedForm | undefined): string | undefined {
  const reasons = refused ? reasonsOf(refused.refusal) : {};
  const own = namesOf(field).flatMap((name) => reasons[name] ?? []);
  return own.length > 0 ? `${field.label} ${own.join(', ')}` : undefined;
}

/** The label of the field that a reason is about, or its name in words; reasons about no field have none. */
function subjectOf(name: string, fields: readonly Field[]): string {
  const label = fields.find((field) => namesOf(field).includes(name))?.label;
  const words = name === 'base' ? '' : name.replaceAll('_', ' ');
  return label || words.charAt(0).toUpperCase() + words.slice(1);
}

/** The message of a refusal, for people. */
function sentenceFor(refusal: ApiError, fields: readonly Field[]): string {
  const parts = Object.entries(reasonsOf(refusal)).flatMap(([name, reasons]) =>
    reasons.map((reason) => `${subjectOf(name, fields)} ${reason}`.trim()),
  );
  return parts.length > 0 ? parts.join('; ') : textOf(refusal).replace(/^\d{3} ([\w ]+ - )?/, '');
}

/** A value of a form by the name of its field: `levels[0][access_level]` is inside of `levels`. */
const valueAt = (values: Values, name: string): unknown =>
  name
    .split(/[[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>((inside, step) => (inside as Values | undefined)?.[step], values);

/** What was typed into the fields of a name, or chosen in them. What is no text comes from no form of ours. */
const typedIn = ({ values }: RefusedForm, name: string): string[] =>
  [valueAt(values, name)].flat().filter((value) => typeof value === 'string');

interface Shown {
  id: string;
  text: string;
  /** A list from which several can be chosen. */
  chosen: readonly string[];
  /** The ids of what helps with it, and of the reasons of a refusal, if there are any. */
  described: string | undefined;
  is_invalid: boolean;
}

function controlOf(field: Field, { id, text, chosen, described, ...shown }: Shown): Html {
  const {
    name,
    kind = 'text',
    options = [],
    is_required,
    is_readonly,
    autocomplete,
    maximum,
    rows = 8,
    code_of,
  } = field;
  const is_invalid = shown.is_invalid && 'true';
  if (kind === 'area' || kind === 'markdown')
    return html`<textarea id="${id}" name="${name}" ?class="${kind === 'markdown' && 'writing'}" rows="${rows}" ?maxlength="${maximum}" ?required="${is_required}" ?data-editor="${code_of !== undefined && editorAddress()}" ?data-file="${code_of}" ?spellcheck="${code_of !== undefined && 'false'}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">
${text}</textarea>`;
  if (field.chosen)
    return html`<select id="${id}" name="${`${name}[]`}" multiple size="${Math.min(8, Math.max(2, options.length))}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">${options.map(
      ({ value, label }) =>
        html`<option value="${value}" ?selected="${chosen.includes(String(value))}">${label}</option>`,
    )}</select>`;
  if (kind === 'select')
    return html`<select id="${id}" name="${name}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">${options.map(
      ({ value, label }) => html`<option value="${value}" ?selected="${String(value) === text}">${label}</option>`,
    )}</select>`;
  // A box that is not ticked sends nothing, and the last value of a name counts.
  if (kind === 'checkbox')
    return html`<input type="hidden" name="${name}" value="false"><input type="checkbox" id="${id}" name="${name}" value="true" ?checked="${text === 'true'}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">`;
  const value = kind === 'password' || kind === 'file' ? undefined : text;
  return html`<input type="${kind}" id="${id}" name="${name}" ?value="${value}" ?maxlength="${maximum}" ?autocomplete="${autocomplete}" ?required="${is_required}" ?multiple="${kind === 'file' && field.is_multiple}" ?readonly="${is_readonly}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">`;
}

const reasonView = (id: string, reason: string | undefined): Content =>
  reason !== undefined && html`<p class="reason" id="${`${id}-reason`}">${reason}</p>`;

/** An empty text, or nothing chosen, is sent as such. */
const clearing = ({ name, is_clearable }: Field): Content =>
  is_clearable && html`<input type="hidden" name="${is_clearable === 'null' ? 'null[]' : 'clear[]'}" value="${name}">`;

/** Boxes of which any number can be ticked. */
function boxesOf(field: Field, form: string, refused: RefusedForm | undefined): Html {
  const { name, label, help, options = [], chosen = [] } = field;
  const ticked = new Set(refused ? typedIn(refused, name) : chosen.map(String));
  const id = `${form}-${name}`;
  const reason = reasonsFor(field, refused);
  return html`<fieldset class="field" id="${id}" ?aria-describedby="${reason && `${id}-reason`}"><legend>${label}</legend>${help && html`<p class="help">${help}</p>`}${options.map(
    ({ value, label: text, view }) =>
      html`<label><input type="checkbox" name="${`${name}[]`}" value="${value}" ?checked="${ticked.has(String(value))}"> ${view ?? text}</label>`,
  )}${clearing(field)}${reasonView(id, reason)}</fieldset>`;
}

/**
 * A field with its label, and what was typed and why it was refused.
 * @param form the start of its ids
 */
export function fieldOf(field: Field, form: string, refused: RefusedForm | undefined): Html {
  const { name, label, kind, help } = field;
  if (kind === 'checkboxes') return boxesOf(field, form, refused);
  const typed = refused && typedIn(refused, name).at(-1);
  const value = typed ?? field.value;
  const text = value === undefined || value === null ? '' : String(value);
  if (kind === 'hidden') return html`<input type="hidden" name="${name}" value="${text}">`;
  const id = `${form}-${name.replaceAll(/\W+/g, '-')}`;
  const reason = reasonsFor(field, refused);
  const is_invalid = reason !== undefined;
  const described = [help && `${id}-help`, is_invalid && `${id}-reason`].filter(Boolean).join(' ') || undefined;
  const chosen = refused ? typedIn(refused, name) : (field.chosen ?? []).map(String);
  const control = controlOf(field, { id, text, chosen, described, is_invalid });
  const parts = [
    kind === 'checkbox'
      ? html`<label>${control} ${label}</label>`
      : html`<label for="${id}">${label}</label>${control}`,
    kind === 'markdown' &&
      refused?.preview &&
      html`<div class="text preview" id="${`${id}-preview`}">${refused.preview}</div>`,
    help && html`<p class="help" id="${`${id}-help`}">${help}</p>`,
    clearing(field),
    reasonView(id, reason),
  ];
  return html`<div class="field">${parts}</div>`;
}

/** A short digest of the edited values, to detect a change in between. */
export const versionOf = (edited: readonly unknown[]): string =>
  createHash('sha1').update(JSON.stringify(edited)).digest('base64url');

/** Browsers take a text before a password for a username, unless it says what it is. */
const withoutUsernames = (fields: readonly Field[]): readonly Field[] =>
  fields.some(({ kind }) => kind === 'password')
    ? fields.map((field) =>
        field.kind === undefined || field.kind === 'text' ? { autocomplete: 'off', ...field } : field,
      )
    : fields;

/**
 * A form of a page, with what was typed if it was refused; nothing if the caller may not send it.
 * @param name as in `forms` of the page
 */
export function form(
  seen: Seen,
  name: string,
  { fields: own = [], button, also, tries, look, key, edited, key_request, action = seen.path }: FormParts,
): Html | undefined {
  if (!seen.may(name)) return undefined;
  const always = Object.entries(seen.always ?? {}).map(([each, value]) => hidden(each, value));
  const fields = [...withoutUsernames(own), ...always, ...(key_request ? [hidden('answer', '')] : [])];
  const id = key === undefined ? name : `${name}-${String(key).replaceAll(/[^\w-]+/g, '-')}`;
  const refused = refusalIn(seen, name, key) ?? (also && refusalIn(seen, also.name, key));
  const encoding = fields.some(({ kind }) => kind === 'file') ? 'multipart/form-data' : undefined;
  return html`<form method="post" action="${action}" id="${id}" class="${fields.some(({ kind }) => kind !== 'hidden') ? 'fields' : 'single'}" ?enctype="${encoding}" ?data-asks="${key_request?.kind}" ?data-options="${key_request?.options}">
${key_request && html`<noscript><p class="help">Keys need JavaScript, which is off in this browser.</p></noscript>`}${refused && !refused.preview && refusalOf(refused, fields)}${fields.map((field) => fieldOf(field, id, refused))}${
  key !== undefined && html`<input type="hidden" name="_key" value="${key}">`
}${edited && html`<input type="hidden" name="_edited" value="${versionOf(edited)}">`}<button name="_do" value="${name}" class="${look ?? 'primary'}">${button}</button>${
    also && html` <button name="_do" value="${also.name}">${also.button}</button>`
  }${tries && html` <button formmethod="get" name="${tries.name}" value="1">${tries.button}</button>`}${previewButton(name, fields)}
</form>`;
}

/** Shows the text of a form as it will look: a form has one at most. It stands behind the others, since Enter presses the first one. */
function previewButton(name: string, fields: readonly Field[]): Content {
  const text = fields.find(({ kind }) => kind === 'markdown');
  return text && html` <button name="_preview" value="${`${name} ${text.name}`}" formnovalidate>Preview</button>`;
}

/** The refusal of a form, if it is this one that was refused. */
export const refusalIn = ({ refused }: Seen, name: string, key?: string | number): RefusedForm | undefined =>
  refused?.name === name && (typedIn(refused, '_key')[0] ?? '') === String(key ?? '') ? refused : undefined;

/** The prefix of a refusal's summary. No text of users can produce such an element. */
const summaryStart = '<p class="refusal" role="alert">';

/** The summary of a refusal, above the fields. */
export const refusalOf = ({ refusal }: RefusedForm, fields: readonly Field[]): Html =>
  html`<p class="refusal" role="alert">${sentenceFor(refusal, fields)}</p>`;

/**
 * A refusal that the page does not show: of a form that is not on it any more, such as the one for merging what was merged meanwhile, or of a query where there
 * are no filters.
 */
export function lostRefusal({ main }: View, { refused }: Seen): Html | undefined {
  if (!refused || refused.preview) return undefined;
  // Pages that come in pieces have no filters.
  const isLost = 'text' in main ? !main.text.includes(summaryStart) : refused.name === filterName;
  return isLost ? refusalOf(refused, []) : undefined;
}

/**
 * A form that asks with GET, such as the filters of a list. What the page was asked with is filled in, also if it was refused.
 */
export function filterForm(seen: Seen, fields: readonly Field[], button: Content): Html {
  const { path, query } = seen;
  const refused = refusalIn(seen, filterName);
  const shown = fields.map((field) =>
    fieldOf({ ...field, value: textIn(query, field.name) ?? field.value }, filterName, refused),
  );
  return html`<form method="get" action="${path}" class="filters" role="search">${refused && refusalOf(refused, fields)}${shown}<button>${button}</button></form>`;
}

const textIn = (query: Values, name: string): string | undefined => {
  const value = query[name];
  return typeof value === 'string' ? value : undefined;
};
