/**
 * The limits of hooks, when they are disabled, and how their addresses, bodies and signatures are built
 * (docs/reference/hooks.md). Pure functions.
 */
import { createHmac } from 'node:crypto';
import { tooLong } from '../../../texts/index.ts';
import { failures_that_disable } from '../../instance/hook_events/index.ts';

export const maximumLengths = {
  url: 2048,
  name: 255,
  description: 2048,
  template: 4096,
  key: 255,
  value: 2048,
  token: 512,
  filter: 5000,
};

/** The kinds of owners. */
export type OwnerKind = 'project' | 'group' | 'instance';

/** The maximum number of system hooks; administrators set the limits of projects and groups. */
export const maximumSystemHooks = 100;

/** The maximum number of headers or URL variables of a hook. */
export const maximumCustom = 20;

const keyPattern = /^[A-Za-z]+[0-9]*(?:[._-][A-Za-z0-9]+)*$/;
/** The characters allowed in a header. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Reserved headers, which describe the request itself. */
const ownHeaders = new Set([
  'host',
  'content-length',
  'content-type',
  'transfer-encoding',
  'connection',
  'expect',
  'upgrade',
  'trailer',
  'te',
]);

export const keyReasons = (key: string): string[] => [
  ...tooLong(key, maximumLengths.key),
  ...(keyPattern.test(key) ? [] : ['is invalid']),
];

export const headerReasons = (key: string): string[] => [
  ...keyReasons(key),
  ...(ownHeaders.has(key.toLowerCase()) ? ['is reserved'] : []),
];

export const valueReasons = (value: string): string[] =>
  value === ''
    ? ["can't be blank"]
    : [...tooLong(value, maximumLengths.value), ...(headerValue.test(value) ? [] : ['is invalid'])];

export const tokenReasons = (token: string | null): string[] =>
  token === null ? [] : [...tooLong(token, maximumLengths.token), ...(headerValue.test(token) ? [] : ['is invalid'])];

/** `whsec_` and the Base64 of 32 bytes (Standard Webhooks). */
export function signingTokenReasons(token: string | null): string[] {
  if (!token) return [];
  const bytes = Buffer.from(token.replace(/^whsec_/, ''), 'base64');
  return `whsec_${bytes.toString('base64')}` === token && bytes.length === 32 ? [] : ['is invalid'];
}

/** The values of a hook that are sealed with the secret key. */
export interface HookSecrets {
  token?: string;
  signing_token?: string;
  url_variables: Record<string, string>;
  custom_headers: Record<string, string>;
}

const placeholder = /\{([A-Za-z]+[0-9]*(?:[._-][A-Za-z0-9]+)*)\}/g;

/** The variables in a URL. */
export const variablesIn = (url: string): string[] => [...url.matchAll(placeholder)].map(([, name]) => name!);

/** A URL with the values of its variables. */
export const filledUrl = (url: string, variables: Readonly<Record<string, string>>): string =>
  url.replaceAll(placeholder, (whole, name: string) => variables[name] ?? whole);

const failures_in_row = 4;
const maximumPause_s = 24 * 3600;

/**
 * The number of seconds for which a hook is disabled after this many failures in a row; 0 if it is not, and null if it
 * stays disabled.
 */
export function pauseAfter(failures: number): number | null {
  if (failures >= failures_that_disable) return null;
  return failures < failures_in_row ? 0 : Math.min(60 * 2 ** (failures - failures_in_row), maximumPause_s);
}

/** Whether an event triggers a hook. */
export function alertStatus({
  recent_failures,
  disabled_until,
}: {
  recent_failures: number;
  disabled_until: string | null;
}) {
  if (recent_failures >= failures_that_disable) return 'disabled';
  return disabled_until !== null && Date.parse(disabled_until) > Date.now() ? 'temporarily_disabled' : 'executable';
}

/** Seconds until the next attempt, by the number of the failed one. */
const pauses_s = [10, 60, 300];

/** The same for audit events, which are sent until they have arrived. */
export const pauseOfStream = (attempt: number): number => pauses_s[attempt - 1] ?? 300;

/**
 * Whether and when a failed attempt is retried.
 * @param status of the response; null without one
 * @returns seconds until the retry, or undefined for none
 */
export const pauseBefore = (attempt: number, status: number | null): number | undefined =>
  status === null || status === 429 || status >= 500 ? pauses_s[attempt - 1] : undefined;

export const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

/** The signature of Standard Webhooks. */
export function signatureOf(
  signing_token: string,
  { id, timestamp_s, body }: { id: string; timestamp_s: number; body: string },
): string {
  const key = Buffer.from(signing_token.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp_s}.${body}`).digest('base64')}`;
}

/** The expression for branch names with `*`, for RE2. */
export const wildcardSource = (pattern: string): string =>
  `(?s)^${pattern
    .split('*')
    .map((piece) => piece.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
    .join('.*')}$`;

/** The delivery cannot be sent to the hook. The message is a sentence for the owner of the hook. */
export class Unsendable extends Error {
  override name = 'Unsendable';
}

const maximumBody_bytes = 25 * 1024 * 1024;

/** @throws Unsendable for a body that is too long */
export function checkLength(body: string): void {
  if (Buffer.byteLength(body) > maximumBody_bytes) throw new Unsendable('The payload is larger than 25 MiB');
}

/**
 * Renders the body from a template: `{{object_attributes.title}}` is replaced by this value of the usual body.
 * @throws Unsendable if the result is not JSON, or too long
 */
export function rendered(template: string, body: unknown): string {
  let size = template.length;
  const text = template.replaceAll(/\{\{([^{}]+)\}\}/g, (_whole, path: string) => {
    let value = body;
    for (const name of path.trim().split('.'))
      value =
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined;
    const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
    size += shown.length;
    // A template can repeat a long description many times.
    if (size > maximumRendered) throw new Unsendable('The custom webhook template makes too long a body');
    return JSON.stringify(shown).slice(1, -1);
  });
  try {
    JSON.parse(text);
  } catch {
    throw new Unsendable('The custom webhook template does not make valid JSON');
  }
  return text;
}

const maximumRendered = 2 * 1024 * 1024;
