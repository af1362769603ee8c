/** The pages behind the link in an invitation mail. The link proves access to the invited address; accepting also requires signing in. */
import type { FastifyRequest } from 'fastify';
import { authenticate, deviceOf, userByPassword, type Visitor, visitorOf } from '../../../access/index.ts';
import { repeated } from '../../../db/index.ts';
import {
  ApiError,
  type Caller,
  type Door,
  type DoorCall,
  type Doorway,
  forbidden,
  type Identification,
  scopesFor,
  type Values,
} from '../../../http/index.ts';
import { isFromOurPage, originFor } from '../../../http/origin.ts';
import { leadTo, pageForm, type RefusedForm, sendPage } from '../../../pages/index.ts';
import { confirmedAddresses } from '../../people/emails/index.ts';
import { factorsOf } from '../../people/second_factors/index.ts';
import { finishSignIn, secondFactorPage } from '../../people/sessions/index.ts';
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
  placePage,
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

const wrongPasswordText = 'The name or the password is wrong.';

const isOurForm = ({ request, services }: Call) => isFromOurPage(request, originFor(request, services.url));

/** Whoever is signed in, as far as a form of another site did not choose what they do. */
const whoIsSignedIn = async (call: Call): Promise<Visitor | undefined> =>
  isOurForm(call) ? visitorOf(call.services, call.request) : undefined;

const byPassword = (call: Call): Promise<{ id: number }> =>
  userByPassword(call.services, {
    login: textIn(call, 'login'),
    password: textIn(call, 'password'),
    ...deviceOf(call.request, call.services.url),
    refused: (user_id) => tellOfUser(call.services.db, 'user_failed_login', user_id),
  });

/** Accepts as the user of the token, of the session, or of a name and a password, which is not enough for somebody with a second factor. */
async function accept(call: Call, invitation: OpenInvitation) {
  const { db } = call.services;
  const visitor = textIn(call, 'login') === '' ? await whoIsSignedIn(call) : undefined;
  const known = call.caller ?? visitor;
  const { id } = known ?? (await byPassword(call));
  const own = await confirmedAddresses(db, id);
  if (!own.some((address) => address.toLowerCase() === invitation.invite_email.toLowerCase()))
    return sendPage(call, 403, foreignPage(invitation));
  if (!known && (await factorsOf(db, id)).has_any) return askSecondFactor(call, id);
  const outcome = await db.transaction().execute((tx) => acceptInvitation(tx, invitation, id));
  if (call.caller) return answered(call, invitation, outcome);
  return visitor ? arrived(call, invitation, outcome) : goOn(call, invitation, { outcome, user_id: id });
}

const signIn = (call: Call, user_id: number, to: string) => {
  const { services, request } = call;
  const device = deviceOf(request, services.url);
  return finishSignIn(services, { user_id, methods: ['pwd'], is_remembered: false, device, going: { to, kept: '' } });
};

/** Asks for the second factor, and leads back to the invitation, which they then accept signed in. */
async function askSecondFactor(call: Call, user_id: number) {
  if (!isOurForm(call)) throw forbidden('Sign in first.');
  const { cookies } = await signIn(call, user_id, pathOf(call.request));
  return leadTo(call.reply.header('set-cookie', cookies), secondFactorPage, 303);
}

async function signUpAndAccept(call: Call, invitation: OpenInvitation) {
  const { services } = call;
  const account: NewAccount = {
    username: textIn(call, 'username'),
    name: textIn(call, 'name'),
    password: textIn(call, 'password'),
  };
  return goOn(call, invitation, await repeated(services.db, (tx) => signUp(tx, invitation, account)));
}

const isDone: ReadonlySet<Outcome> = new Set(['joined', 'known', 'queued']);

function answered(call: Call, invitation: OpenInvitation, outcome: Outcome | undefined) {
  if (outcome === undefined) return sendPage(call, 404, gonePage);
  return sendPage(call, isDone.has(outcome) ? 200 : 409, outcomePage(invitation, outcome));
}

/**
 * Signs in the user who has answered, and redirects members to the group or project. A form on another site must not
 * choose the user of this session.
 */
async function goOn(
  call: Call,
  invitation: OpenInvitation,
  { outcome, user_id }: { outcome: Outcome | undefined; user_id?: number },
) {
  if (user_id === undefined || !isOurForm(call)) return answered(call, invitation, outcome);
  const { cookies } = await signIn(call, user_id, placePage(invitation));
  call.reply.header('set-cookie', cookies);
  return arrived(call, invitation, outcome);
}

/** Leads members to the group or project. */
const arrived = (call: Call, invitation: OpenInvitation, outcome: Outcome | undefined) =>
  outcome === 'joined' || outcome === 'known'
    ? leadTo(call.reply, placePage(invitation), 303)
    : answered(call, invitation, outcome);

const askToDecline = async (call: Call, invitation: OpenInvitation) =>
  sendPage(call, 200, decliningPage(invitation, pathOf(call.request)));

async function decline(call: Call, invitation: OpenInvitation) {
  const isDeclined = await call.services.db.transaction().execute((tx) => declineInvitation(tx, invitation));
  return isDeclined ? sendPage(call, 200, declinedPage(invitation)) : sendPage(call, 404, gonePage);
}

async function show(call: Call, invitation: OpenInvitation) {
  const objection = await objectionTo(call.services.db, invitation);
  return objection ? answered(call, invitation, objection) : showForms(call, invitation);
}

async function showForms(call: Call, invitation: OpenInvitation, refused?: RefusedForm) {
  const withSignUp = await isSignUpOpen(call.services.db);
  const status = refused?.refusal.status ?? 200;
  const visitor = await visitorOf(call.services, call.request);
  const shown = { action: pathOf(call.request), withSignUp, signedInAs: visitor?.username, refused };
  return sendPage(call, status, invitationPage(invitation, shown));
}

type Answer = typeof show;

/** @param answer handles a form; if it is refused, the page shows the reason and keeps the input */
const keeping =
  (name: string, answer: Answer): Answer =>
  async (call, invitation) => {
    try {
      return await answer(call, invitation);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      const { status, headers } = error;
      const refusal = status === 401 ? new ApiError(401, { message: wrongPasswordText }) : error;
      call.reply.headers(headers);
      return showForms(call, invitation, { name, values: call.fields, refusal });
    }
  };

/** @param answer handles the invitation of the token */
const opening = (answer: Answer) => async (call: Call) => {
  const { services, request } = call;
  const seed = seedOf(services.secrets, request.params.token);
  const invitation = seed === undefined ? undefined : await invitationOfSeed(services.db, seed);
  return invitation ? answer(call, invitation) : sendPage(call, 404, gonePage);
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
    { ...page('POST', '/accept', keeping('accept', accept)), who },
    page('POST', '/sign_up', keeping('sign_up', signUpAndAccept)),
    // Following the link in the mail must not decline the invitation: mail scanners open links.
    page('GET', '/decline', askToDecline),
    page('POST', '/decline', decline),
  ],
  errors: (services) =>
    pageForm(services, (reason, { status }, request) =>
      refusalPage(status === 401 ? 'The token is wrong.' : reason, pathOf(request as Request)),
    ),
};
