/** Forms of pages. Their fields are parameters of the endpoint that a form runs. */
import { createHash } from 'node:crypto';
import { type ApiError, textOf, type Values } from '../http/index.ts';
import { type Content, type Html, html } from './html.ts';
import type { RefusedForm, Seen } from './page.ts';

export interface Option {
  value: string | number;
  label: string;
}

/** A field, by the name of a parameter. */
export interface Field {
  name: string;
  label: string;
  /** Of `checkboxes`, each option has a box, and the ticked ones are sent as a list. */
  kind?:
    | 'text'
    | 'area'
    | 'checkbox'
    | 'checkboxes'
    | 'select'
    | 'date'
    | 'number'
    | 'password'
    | 'email'
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
  /** Whether an empty text clears what was there, and is not just left out; `null` for parameters that empty text does not clear. */
  is_clearable?: true | 'null';
}

/** A field that people do not see. */
export const hidden = (name: string, value: Field['value']): Field => ({ name, label: '', kind: 'hidden', value });

export interface FormParts {
  fields?: readonly Field[];
  /** The label of the button. */
  button: Content;
  look?: 'plain' | 'danger' | 'own';
  /** Another form of the page with the same fields, as a second button. */
  also?: { name: string; button: Content };
  /** Tells forms of the same name on a page apart, and is in the ids of their fields. */
  key?: string | number;
  /** What it edits, as `edits` of the form gives it. */
  edited?: readonly unknown[];
  /** The address that it is posted to, where the query of the page matters; by default its path. */
  action?: string;
}

/** The reasons of a refusal by field; none where it is a sentence. */
function reasonsIn({ body: { message } }: ApiError): Readonly<Record<string, readonly string[]>> {
  return typeof message === 'string' || Array.isArray(message) ? {} : (message as Record<string, readonly string[]>);
}

/** What a refusal says, for people. */
const sentenceFor = (refusal: ApiError): string =>
  textOf(refusal)
    .replace(/^\d{3} ([\w ]+ - )?/, '')
    // Some refusals show a hash of the reference's language.
    .replace(/^\w+ \{:(\w+)=>\[(.*)\]\}$/, (_, field, reasons) => `${field} ${reasons.replaceAll('"', '')}`);

/** What was typed, as the field shows it. */
const typedIn = ({ values }: RefusedForm, name: string): unknown => {
  const value = values[name];
  return Array.isArray(value) ? value.at(-1) : value;
};

interface Shown {
  id: string;
  text: string;
  /** The same of a list of which several can be chosen. */
  chosen: readonly string[];
  /** The ids of what helps with it, and of the reasons of a refusal, if there are any. */
  described: string | undefined;
  is_invalid: boolean;
}

function controlOf(field: Field, { id, text, chosen, described, ...shown }: Shown): Html {
  const { name, kind = 'text', options = [], is_required, is_readonly, autocomplete, maximum } = field;
  const is_invalid = shown.is_invalid && 'true';
  if (kind === 'area')
    return html`<textarea id="${id}" name="${name}" rows="8" ?maxlength="${maximum}" ?required="${is_required}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">
${text}</textarea>`;
  if (field.chosen)
    return html`<select id="${id}" name="${`${name}[]`}" multiple size="${Math.min(8, Math.max(2, options.length))}" ?aria-describedby="${described}">${options.map(
      ({ value, label }) =>
        html`<option value="${value}" ?selected="${chosen.includes(String(value))}">${label}</option>`,
    )}</select>`;
  if (kind === 'select')
    return html`<select id="${id}" name="${name}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">${options.map(
      ({ value, label }) => html`<option value="${value}" ?selected="${String(value) === text}">${label}</option>`,
    )}</select>`;
  // A box that is not ticked sends nothing, and the last value of a name counts.
  if (kind === 'checkbox')
    return html`<input type="hidden" name="${name}" value="false"><input type="checkbox" id="${id}" name="${name}" value="true" ?checked="${text === 'true'}" ?aria-describedby="${described}">`;
  const value = kind === 'password' || kind === 'file' ? undefined : text;
  return html`<input type="${kind}" id="${id}" name="${name}" ?value="${value}" ?maxlength="${maximum}" ?autocomplete="${autocomplete}" ?required="${is_required}" ?readonly="${is_readonly}" ?aria-invalid="${is_invalid}" ?aria-describedby="${described}">`;
}

/** Boxes of which any number can be ticked. */
function boxesOf({ name, label, help, options = [] }: Field, form: string, refused: RefusedForm | undefined): Html {
  const ticked = new Set([refused?.values[name] ?? []].flat().map(String));
  const reasons = (refused && reasonsIn(refused.refusal)[name]) ?? [];
  return html`<fieldset class="field" id="${`${form}-${name}`}"><legend>${label}</legend>${help && html`<p class="help">${help}</p>`}${options.map(
    ({ value, label: text }) =>
      html`<label><input type="checkbox" name="${`${name}[]`}" value="${value}" ?checked="${ticked.has(String(value))}"> ${text}</label>`,
  )}${reasons.length > 0 && html`<p class="reason">${label} ${reasons.join(', ')}</p>`}</fieldset>`;
}

function fieldOf(field: Field, form: string, refused: RefusedForm | undefined): Html {
  const { name, label, kind, help } = field;
  if (kind === 'checkboxes') return boxesOf(field, form, refused);
  const typed = refused && typedIn(refused, name);
  const value = typed ?? field.value;
  const text = value === undefined || value === null ? '' : String(value);
  if (kind === 'hidden') return html`<input type="hidden" name="${name}" value="${text}">`;
  const id = `${form}-${name.replaceAll(/\W+/g, '-')}`;
  const reasons = (refused && reasonsIn(refused.refusal)[name]) ?? [];
  const is_invalid = reasons.length > 0;
  const described = [help && `${id}-help`, is_invalid && `${id}-reason`].filter(Boolean).join(' ') || undefined;
  const chosen = (refused ? [refused.values[name] ?? []].flat() : (field.chosen ?? [])).map(String);
  const control = controlOf(field, { id, text, chosen, described, is_invalid });
  const parts = [
    kind === 'checkbox'
      ? html`<label>${control} ${label}</label>`
      : html`<label for="${id}">${label}</label>${control}`,
    help && html`<p class="help" id="${`${id}-help`}">${help}</p>`,
    field.is_clearable &&
      html`<input type="hidden" name="${field.is_clearable === 'null' ? 'null[]' : 'clear[]'}" value="${name}">`,
    is_invalid && html`<p class="reason" id="${`${id}-reason`}">${label} ${reasons.join(', ')}</p>`,
  ];
  return html`<div class="field">${parts}</div>`;
}

/** A short text that differs if what is edited differs. */
export const versionOf = (edited: readonly unknown[]): string =>
  createHash('sha1').update(JSON.stringify(edited)).digest('base64url');

/**
 * A form of a page, with what was typed if it was refused; nothing if the caller may not send it.
 * @param name as in `forms` of the page
 */
export function form(
  seen: Seen,
  name: string,
  { fields = [], button, also, look, key, edited, action = seen.path }: FormParts,
): Html | undefined {
  if (!seen.may(name)) return undefined;
  const id = key === undefined ? name : `${name}-${key}`;
  const refused = refusalIn(seen, name, key) ?? (also && refusalIn(seen, also.name, key));
  const encoding = fields.some(({ kind }) => kind === 'file') ? 'multipart/form-data' : undefined;
  return html`<form method="post" action="${action}" id="${id}" class="${fields.some(({ kind }) => kind !== 'hidden') ? 'fields' : 'single'}" ?enctype="${encoding}">
${refused && refusalOf(refused)}${fields.map((field) => fieldOf(field, id, refused))}${
  key !== undefined && html`<input type="hidden" name="_key" value="${key}">`
}${edited && html`<input type="hidden" name="_edited" value="${versionOf(edited)}">`}<button name="_do" value="${name}" class="${look ?? 'primary'}">${button}</button>${
    also && html` <button name="_do" value="${also.name}">${also.button}</button>`
  }
</form>`;
}

/** The refusal of a form, if it is this one that was refused. */
export const refusalIn = ({ refused }: Seen, name: string, key?: string | number): RefusedForm | undefined =>
  refused?.name === name && String(refused.values._key ?? '') === String(key ?? '') ? refused : undefined;

/** The summary of a refusal, above the fields. */
export const refusalOf = ({ refusal }: RefusedForm): Html =>
  html`<p class="refusal" role="alert">${sentenceFor(refusal)}</p>`;

/** A form that asks with GET, such as the filters of a list. What the page was asked with is filled in. */
export function filterForm(
  { path, query }: Pick<Seen, 'path' | 'query'>,
  fields: readonly Field[],
  button: Content,
): Html {
  const shown = fields.map((field) =>
    fieldOf({ ...field, value: textIn(query, field.name) ?? field.value }, 'filter', undefined),
  );
  return html`<form method="get" action="${path}" class="filters" role="search">${shown}<button>${button}</button></form>`;
}

const textIn = (query: Values, name: string): string | undefined => {
  const value = query[name];
  return typeof value === 'string' ? value : undefined;
};
