/** Answering an application that sends a person here to ask them (docs/reference/oauth_tokens.md#asking-a-person). */
import type { Visitor } from '../../../access/index.ts';
import { badRequest, type Services, type Values } from '../../../http/index.ts';
import { addressWith } from '../applications/address_rules.ts';
import { type Client, clientNamed } from '../applications/queries.ts';
import { giveCode } from './actions.ts';
import { hasAgreed, signInOf } from './queries.ts';
import { type Asked, addressOf, needsSignIn, type Problem, parameterIn, readRequest, repeated } from './rules.ts';

/** A request whose application is known, and who may be asked. */
export interface AuthorizationRequest {
  client: Client;
  asked: Asked | Problem;
  /** Where the person is sent back to, with the answer. */
  back(answer: Readonly<Record<string, string>>): URL;
}

/**
 * Reads the query of a request.
 * @throws ApiError 400 if the person cannot be sent back: the application or the address is unknown
 */
export async function requestOf({ db, url }: Services, query: Values): Promise<AuthorizationRequest> {
  const client = await clientNamed(db, parameterIn(query, 'client_id') ?? '');
  if (!client) throw badRequest('No application has this client_id.');
  const address = addressOf(client, query);
  if (address === undefined) throw badRequest('The redirect_uri is not one of the application.');
  const state = parameterIn(query, 'state');
  const back = (answer: Readonly<Record<string, string>>) => addressWith(address, { ...answer, state, iss: url });
  return { client, asked: readRequest(client, address, query), back };
}

/** The answer without a person being asked: where they are sent, or that they sign in first. Undefined if they have to be asked. */
export type Answer =
  | {
      to: URL;
      /** When the session of the person began, if there is one. */
      began?: string | undefined;
    }
  | { signs_in: URLSearchParams }
  | undefined;

/**
 * Answers a request, as far as the person need not be asked.
 * @throws ApiError 400
 */
export async function answerAlone(services: Services, query: Values, caller: Visitor | undefined): Promise<Answer> {
  const { client, asked, back } = await requestOf(services, query);
  if ('error' in asked) return { to: back({ ...asked }) };
  const isQuiet = asked.prompts.has('none');
  const now_s = Math.floor(Date.now() / 1000);
  const signedIn = caller && (await signInOf(services.db, caller.session.id));
  const began = signedIn?.authenticated_at;
  const refusal = (error: string, error_description: string) => ({ to: back({ error, error_description }), began });
  const authenticated_s = signedIn ? Date.parse(signedIn.authenticated_at) / 1000 : undefined;
  if (!caller || authenticated_s === undefined || needsSignIn(asked, query, { authenticated_s, now_s }))
    return isQuiet ? refusal('login_required', 'The person is not signed in.') : { signs_in: repeated(query, now_s) };
  const consent = { user_id: caller.id, application_id: client.id, scopes: asked.scopes };
  const isAgreed = client.trusted || (await hasAgreed(services.db, consent));
  if (!isAgreed || asked.prompts.has('consent'))
    return isQuiet ? refusal('consent_required', 'The person has to be asked.') : undefined;
  return { to: back({ code: await giveCode(services.db, consent, asked, signedIn!) }), began };
}

/**
 * Answers a request as the person has decided.
 * @returns where they are sent
 * @throws ApiError 400
 */
export async function answerDecided(
  services: Services,
  query: Values,
  { caller, agrees }: { caller: Visitor; agrees: boolean },
): Promise<URL> {
  const { client, asked, back } = await requestOf(services, query);
  if ('error' in asked) return back({ ...asked });
  if (!agrees) return back({ error: 'access_denied', error_description: 'The resource owner denied the request.' });
  const consent = { user_id: caller.id, application_id: client.id };
  return back({ code: await giveCode(services.db, consent, asked, await signInOf(services.db, caller.session.id)) });
}
