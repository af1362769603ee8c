/** Asking a person whether an application may use their account (docs/reference/oauth_tokens.md#asking-a-person). */
import { unprocessable, type Values } from '../../../http/index.ts';
import { form, hidden, html, type PageCall, page, textIn, type View } from '../../../pages/index.ts';
import { answerAlone, answerDecided, requestOf } from '../../people/oauth_grants/index.ts';
import { paths } from '../../people/openid/index.ts';
import { registeredBy, scopeList } from './views.ts';

const signInPath = '/users/sign_in';

/** What a browser needs to send the form of a page on to an address: its origin, or the scheme of a program. IPv6 addresses have no name in policies. */
function targetOf({ protocol, origin, hostname }: URL): string {
  return origin === 'null' || hostname.startsWith('[') ? protocol : origin;
}

/** How long after a sign-in a browser may still be on its way from the form. */
const onTheWay_ms = 60_000;

/**
 * Whether a form of a page of ours may have led here, from which a browser does not follow a redirect to another server: a page takes its place.
 * @param began when the session began
 */
const comesFromForm = ({ reply }: PageCall, began: string | undefined): boolean =>
  reply.request.headers['sec-fetch-site'] === 'same-origin' ||
  (began !== undefined && Date.now() - Date.parse(began) < onTheWay_ms);

/** A page that leads on. */
function leavingView({ reply }: PageCall, to: URL): View {
  reply.header('refresh', `0; url=${to.href}`);
  return {
    title: ['Going on'],
    main: html`<p><a href="${to.href}">Go on to ${to.origin === 'null' ? to.protocol : to.host}</a></p>`,
  };
}

async function decide(call: PageCall, fields: Values, agrees: boolean): Promise<URL> {
  const caller = call.caller!;
  // The page was shown to who was signed in then.
  if (agrees && textIn(fields, 'user_id') !== String(caller.id))
    throw unprocessable('You have signed in with another account. Look at what is asked again.');
  call.reply.header('cache-control', 'no-store');
  return answerDecided(call.services, call.query, { caller, agrees });
}

export const authorizePage = page(paths.authorize, {
  async leads(call) {
    const { services, query, caller, path } = call;
    const answer = await answerAlone(services, query, caller);
    if (!answer) return undefined;
    call.reply.header('cache-control', 'no-store');
    if ('signs_in' in answer) return `${signInPath}?${new URLSearchParams({ to: `${path}?${answer.signs_in}` })}`;
    return comesFromForm(call, answer.began) ? leavingView(call, answer.to) : answer.to;
  },
  load: ({ services, query }) => requestOf(services, query),
  forms: {
    authorize: { act: (call, fields) => decide(call, fields, true) },
    deny: { act: (call, fields) => decide(call, fields, false) },
  },
  view({ client, asked, back }, seen) {
    const { name, owner } = client;
    const scopes = 'error' in asked ? [] : asked.scopes;
    const address = back({});
    const query = new URLSearchParams(
      Object.entries(seen.query).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
    return {
      title: [`Authorize ${name}`],
      leads_to: [targetOf(address)],
      main: html`<p><strong>${name}</strong>, which ${registeredBy(owner)} has registered, asks to use your account <strong>@${seen.caller!.username}</strong>. It could:</p>
${scopeList(scopes)}
<p>You go back to <code>${address.href.split('?', 1)[0]!}</code>. Authorize only what you have asked for yourself.</p>
${form(seen, 'authorize', {
  fields: [hidden('user_id', seen.caller!.id)],
  button: 'Authorize',
  also: { name: 'deny', button: 'Deny' },
  action: `${seen.path}?${query}`,
})}`,
    };
  },
});
