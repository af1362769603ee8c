/** The pages that the link of an invitation opens. Whoever has it was written to at the invited address; who accepts must be known besides. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticate, userByPassword } from '../../../access/index.ts';
import { ApiError, insufficientScope, type Services, sendPage, sentenceOf } from '../../../http/index.ts';
import { confirmedAddresses } from '../../people/emails/index.ts';
import { acceptInvitation, declineInvitation, type Outcome } from './acceptance_actions.ts';
import { isSignUpOpen, type NewAccount, signUp } from './account_actions.ts';
import { invitationPath, seedOf } from './link_rules.ts';
import { declinedPage, foreignPage, gonePage, invitationPage, outcomePage, refusalPage } from './page_present.ts';
import { invitationOfSeed, type OpenInvitation } from './queries.ts';

interface InvitationRequest {
  Params: { token: string };
  Querystring: Record<string, unknown>;
  Body: Record<string, unknown> | null;
}
type Request = FastifyRequest<InvitationRequest>;

/** What was filled in under a name; a repeated or missing one is nothing, and so is what no database takes. */
const textIn = (request: Request, name: string): string => {
  const value = request.body?.[name];
  return typeof value === 'string' && !value.includes('\0') ? value : '';
};

/** The user who accepts: by the token that the request carries, or by his name and password. */
async function whoAccepts(services: Services, request: Request): Promise<{ id: number }> {
  const caller = await authenticate(request, { ...request.query, ...request.body }, services);
  if (!caller)
    return userByPassword(services, {
      login: textIn(request, 'login'),
      password: textIn(request, 'password'),
      address: request.ip,
    });
  if (!caller.token.scopes.includes('api')) throw insufficientScope(['api']);
  return caller;
}

async function accept(services: Services, request: Request, reply: FastifyReply, invitation: OpenInvitation) {
  const { db } = services;
  const user = await whoAccepts(services, request);
  const own = await confirmedAddresses(db, user.id);
  if (!own.some((address) => address.toLowerCase() === invitation.invite_email.toLowerCase()))
    return sendPage(reply, 403, foreignPage(invitation));
  return answered(reply, invitation, await db.transaction().execute((tx) => acceptInvitation(tx, invitation, user.id)));
}

async function signUpAndAccept({ db }: Services, request: Request, reply: FastifyReply, invitation: OpenInvitation) {
  const account: NewAccount = {
    username: textIn(request, 'username'),
    name: textIn(request, 'name'),
    password: textIn(request, 'password'),
  };
  return answered(reply, invitation, await db.transaction().execute((tx) => signUp(tx, invitation, account)));
}

function answered(reply: FastifyReply, invitation: OpenInvitation, outcome: Outcome | undefined) {
  if (outcome === undefined) return sendPage(reply, 404, gonePage);
  return sendPage(reply, outcome === 'no seat' || outcome === 'locked' ? 409 : 200, outcomePage(invitation, outcome));
}

async function decline({ db }: Services, _request: Request, reply: FastifyReply, invitation: OpenInvitation) {
  const isDeclined = await db.transaction().execute((tx) => declineInvitation(tx, invitation));
  return isDeclined ? sendPage(reply, 200, declinedPage(invitation)) : sendPage(reply, 404, gonePage);
}

async function show({ db }: Services, request: Request, reply: FastifyReply, invitation: OpenInvitation) {
  const action = `${invitationPath}/${request.params.token}`;
  return sendPage(reply, 200, invitationPage(invitation, { action, withSignUp: await isSignUpOpen(db) }));
}

/** The reason of a refusal, as a sentence. */
function reasonOf({ body, status }: ApiError): string {
  const { message } = body as { message: string | Record<string, string[]> };
  if (status === 401) return 'The name or the password is wrong.';
  return typeof message === 'string' ? message.replace(/^403 Forbidden - /, '') : sentenceOf(message);
}

type Answer = typeof show;

/** @param answer what is done with the invitation that the token opens; what it refuses is shown on a page with the way back */
const page = (services: Services, answer: Answer) => async (request: Request, reply: FastifyReply) => {
  const seed = seedOf(services.secrets, request.params.token);
  const invitation = seed === undefined ? undefined : await invitationOfSeed(services.db, seed);
  if (!invitation) return sendPage(reply, 404, gonePage);
  try {
    return await answer(services, request, reply, invitation);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    reply.headers(error.headers);
    return sendPage(reply, error.status, refusalPage(reasonOf(error), `${invitationPath}/${request.params.token}`));
  }
};

/** Adds the pages to the server. */
export function invitationPages(app: FastifyInstance, services: Services): void {
  const path = `${invitationPath}/:token`;
  app.get<InvitationRequest>(path, page(services, show));
  app.post<InvitationRequest>(`${path}/accept`, page(services, accept));
  app.post<InvitationRequest>(`${path}/sign_up`, page(services, signUpAndAccept));
  // Only who follows the link declines, and no program that looks whether it is there.
  app.get<InvitationRequest>(`${path}/decline`, { exposeHeadRoute: false }, page(services, decline));
  app.post<InvitationRequest>(`${path}/decline`, page(services, decline));
}
