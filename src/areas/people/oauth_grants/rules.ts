/** What an application may ask of a person, and when it gets what it asked for (docs/reference/oauth_tokens.md#asking-a-person). Pure functions. */
import { hash } from 'node:crypto';
import type { Values } from '../../../http/index.ts';
import { isRegistered } from '../applications/address_rules.ts';
import type { Client } from '../applications/queries.ts';
import { scopesIn } from '../applications/rules.ts';

/** How long a code counts. */
export const code_minutes = 10;

/** A problem as the application is told of it. */
export interface Problem {
  error: string;
  error_description: string;
}

const problem = (error: string, error_description: string): Problem => ({ error, error_description });

/** What an application asks for. */
export interface Asked {
  redirect_uri: string;
  scopes: readonly string[];
  code_challenge: string | null;
  nonce: string | null;
  prompts: ReadonlySet<string>;
  /** How long ago the person may have signed in at most. */
  max_age_s: number | undefined;
}

/** A parameter of a request. What is no text counts as omitted, and so does an empty one. */
export function parameterIn(query: Values, name: string): string | undefined {
  const { [name]: value } = query;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const longestNonce = 1000;

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/**
 * Where a request may send the person.
 * @returns undefined for an address that is not one of the application: nobody is sent there, not even with an error
 */
export function addressOf({ redirect_uri }: Client, query: Values): string | undefined {
  const given = parameterIn(query, 'redirect_uri');
  return given !== undefined && isRegistered(redirect_uri, given) ? given : undefined;
}

/** The scopes of a request: by default `api`, if the application has it. Undefined if it does not have all of them. */
export function scopesOf({ scopes }: Pick<Client, 'scopes'>, text: string | undefined): readonly string[] | undefined {
  const asked = text === undefined ? ['api'] : scopesIn(text);
  return asked.length > 0 && asked.every((name) => scopes.includes(name)) ? asked : undefined;
}

/** Why the proof of possession of a request cannot be used (RFC 7636); S256 alone is accepted. */
function challengeProblem({ confidential }: Client, query: Values): Problem | undefined {
  const challenge = parameterIn(query, 'code_challenge');
  const method = parameterIn(query, 'code_challenge_method');
  if (challenge === undefined && method === undefined)
    return confidential ? undefined : problem('invalid_request', 'Code challenge is required.');
  if (method !== 'S256') return problem('invalid_request', 'The code_challenge_method must be S256.');
  return challenge !== undefined && /^[\w-]{43}$/.test(challenge)
    ? undefined
    : problem('invalid_request', 'The code_challenge is invalid.');
}

/** Parameters of OpenID Connect that are not understood, and how they are refused (Core 3.1.2.6). */
const notSupported: Readonly<Record<string, string>> = {
  request: 'request_not_supported',
  request_uri: 'request_uri_not_supported',
  registration: 'registration_not_supported',
};

/** Reads a request whose application and address are known, or says what is wrong with it. */
export function readRequest(client: Client, redirect_uri: string, query: Values): Asked | Problem {
  if (Object.values(query).some((value) => typeof value !== 'string'))
    return problem('invalid_request', 'A parameter is repeated.');
  for (const [name, error] of Object.entries(notSupported))
    if (query[name] !== undefined) return problem(error, `The parameter ${name} is not supported.`);
  const response_type = parameterIn(query, 'response_type');
  if (response_type === undefined) return problem('invalid_request', 'Missing required parameter: response_type.');
  if (response_type !== 'code')
    return problem('unsupported_response_type', 'The authorization server does not support this response type.');
  if ((parameterIn(query, 'response_mode') ?? 'query') !== 'query')
    return problem('invalid_request', 'The authorization server does not support this response mode.');
  const scopes = scopesOf(client, parameterIn(query, 'scope'));
  if (!scopes) return problem('invalid_scope', 'The requested scope is invalid, unknown, or malformed.');
  const refused = challengeProblem(client, query);
  if (refused) return refused;
  const nonce = parameterIn(query, 'nonce') ?? null;
  if (nonce !== null && (nonce.length > longestNonce || !isStorable(nonce)))
    return problem('invalid_request', 'The nonce is invalid.');
  const prompts = new Set(scopesIn(parameterIn(query, 'prompt') ?? ''));
  if (prompts.has('none') && prompts.size > 1)
    return problem('invalid_request', 'The prompt none cannot be combined with others.');
  const age = parameterIn(query, 'max_age');
  if (age !== undefined && !/^\d{1,9}$/.test(age)) return problem('invalid_request', 'The max_age is invalid.');
  const code_challenge = parameterIn(query, 'code_challenge') ?? null;
  const max_age_s = age === undefined ? undefined : Number(age);
  return { redirect_uri, scopes, code_challenge, nonce, prompts, max_age_s };
}

/** Whether a verifier is the one of a challenge (RFC 7636, 4.6). One for a code without a challenge would hide that it was taken out of the request. */
export function provesPossession(code_challenge: string | null, verifier: string): boolean {
  if (code_challenge === null) return verifier === '';
  return /^[\w.~-]{43,128}$/.test(verifier) && hash('sha256', verifier, 'base64url') === code_challenge;
}

/** The parameter that says when a person was asked to sign in for a request. */
const askedName = 'sign_in_asked_at';
/** How long they may take. */
const signIn_s = 600;
/** How far the clocks of the servers may be apart. */
const skew_s = 30;

/** Whether a person has to sign in again before the request is answered. The times are in seconds since 1970. */
export function needsSignIn(
  { prompts, max_age_s }: Asked,
  query: Values,
  { authenticated_s, now_s }: { authenticated_s: number; now_s: number },
): boolean {
  const asked_s = Number(parameterIn(query, askedName) ?? Number.NaN);
  if (Math.abs(now_s - asked_s) < signIn_s && authenticated_s > asked_s - skew_s) return false;
  return (
    prompts.has('login') ||
    prompts.has('select_account') ||
    (max_age_s !== undefined && now_s - authenticated_s > max_age_s)
  );
}

/** The request as it is repeated after a sign-in. */
export function repeated(query: Values, now_s: number): URLSearchParams {
  const texts = Object.entries(query).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const parameters = new URLSearchParams(texts);
  parameters.set(askedName, String(now_s));
  return parameters;
}
