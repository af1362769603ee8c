/** The pages behind the link in an invitation mail. The link proves access to the invited address; accepting also requires signing in. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticate, userByPassword } from '../../../access/index.ts';
import { repeated } from '../../../db/index.ts';
import {
  type Caller,
  type Door,
  type DoorCall,
  type Doorway,
  type Identification,
  scopesFor,
  type Values,
} from '../../../http/index.ts';
import { pageForm, sendPage } from '../../../pages/index.ts';
import { confirmedAddresses } from '../../people/emails/index.ts';
import { tellOfUser } from '../../people/users/index.ts';
import { acceptInvitation, declineInvitation, type Outcome } from './acceptance_actions.ts';
import { isSignUpOpen, type NewAccount, signUp } from './account_actions.ts';
import { invitationPath, seedOf } from './link_rules.ts';
import {
  declinedPage,
  decliningPage,
  foreignPage,
  gonePage,
  invitationPage,
  outcomePage,
  refusalPage,
} from './page_present.ts';
import { invitationOfSeed, type OpenInvitation, objectionTo } from './queries.ts';

interface InvitationRequest {
  Params: { token: string };
  Querystring: Values;
}
type Request = FastifyRequest<InvitationRequest>;

const pathOf = ({ params }: Request) => `${invitationPath}/${params.token}`;

/** The value of a field; undefined if it is missing, repeated, or not accepted by PostgreSQL. */
const textIn = ({ fields }: Call, name: string): string => {
  const value = fields[name];
  return typeof value === 'string' && !value.includes('\0') ? value : '';
};

type Call = DoorCall<Caller, InvitationRequest>;

/** The user who accepts: by the token that the request carries, or by name and password. */
const whoAccepts = async (call: Call): Promise<{ id: number }> =>
  call.caller ??
  userByPassword(call.services, {
    login: textIn(call, 'login'),
    password: textIn(call, 'password'),
    address: call.request.ip,
    refused: (user_id) => tellOfUser(call.services.db, 'user_failed_login', user_id),
  });

async function accept(call: Call, invitation: OpenInvitation) {
  const { db } = call.services;
  const user = await whoAccepts(call);
  const own = await confirmedAddresses(db, user.id);
  if (!own.some((address) => address.toLowerCase() === invitation.invite_email.toLowerCase()))
    return sendPage(call.reply, 403, foreignPage(invitation));
  return answered(
    call.reply,
    invitation,
    await db.transaction().execute((tx) => acceptInvitation(tx, invitation, user.id)),
  );
}

async function signUpAndAccept(call: Call, invitation: OpenInvitation) {
  const { services, reply } = call;
  const account: NewAccount = {
    username: textIn(call, 'username'),
    name: textIn(call, 'name'),
    password: textIn(call, 'password'),
  };
  return answered(reply, invitation, await repeated(services.db, (tx) => signUp(tx, invitation, account)));
}

const isDone: ReadonlySet<Outcome> = new Set(['joined', 'known', 'queued']);

function answered(reply: FastifyReply, invitation: OpenInvitation, outcome: Outcome | undefined) {
  if (outcome === undefined) return sendPage(reply, 404, gonePage);
  return sendPage(reply, isDone.has(outcome) ? 200 : 409, outcomePage(invitation, outcome));
}

const askToDecline = async ({ request, reply }: Call, invitation: OpenInvitation) =>
  sendPage(reply, 200, decliningPage(invitation, pathOf(request)));

async function decline({ services, reply }: Call, invitation: OpenInvitation) {
  const isDeclined = await services.db.transaction().execute((tx) => declineInvitation(tx, invitation));
  return isDeclined ? sendPage(reply, 200, declinedPage(invitation)) : sendPage(reply, 404, gonePage);
}

async function show({ services, request, reply }: Call, invitation: OpenInvitation) {
  const action = pathOf(request);
  const objection = await objectionTo(services.db, invitation);
  if (objection) return answered(reply, invitation, objection);
  return sendPage(reply, 200, invitationPage(invitation, { action, withSignUp: await isSignUpOpen(services.db) }));
}

type Answer = typeof show;

/** @param answer handles the invitation of the token */
const opening = (answer: Answer) => async (call: Call) => {
  const { services, request, reply } = call;
  const seed = seedOf(services.secrets, request.params.token);
  const invitation = seed === undefined ? undefined : await invitationOfSeed(services.db, seed);
  return invitation ? answer(call, invitation) : sendPage(reply, 404, gonePage);
};

const page = (method: 'GET' | 'POST', action: string, answer: Answer): Door<Caller, InvitationRequest> => ({
  method,
  url: `${invitationPath}/:token${action}`,
  handle: opening(answer),
});

/** An API token is accepted, but the page does not ask for one. */
const who: Identification<Caller, InvitationRequest> = {
  identify: (services, request, fields) => authenticate(request, { ...request.query, ...fields }, services),
  scopes: () => scopesFor({ method: 'POST' }),
};

/** Refusals are shown on a page with a link back. */
export const invitationPages: Doorway = {
  cost: 'usual',
  doors: [
    page('GET', '', show),
    { ...page('POST', '/accept', accept), who },
    page('POST', '/sign_up', signUpAndAccept),
    // Following the link in the mail must not decline: programs that check mail for dangerous links do that.
    page('GET', '/decline', askToDecline),
    page('POST', '/decline', decline),
  ],
  errors: () =>
    pageForm((reason, { status }, request) =>
      refusalPage(status === 401 ? 'The name or the password is wrong.' : reason, pathOf(request as Request)),
    ),
};
