/** The pages behind the links in confirmation mails. They need no sign-in: the link proves access to the address. */
import type { FastifyReply } from 'fastify';
import { type Caller, type DoorCall, type Doorway, door } from '../../../http/index.ts';
import { type HtmlPage, pageForm, sendPage } from '../../../pages/index.ts';
import { confirm, type Outcome, sendAgain } from './confirmation_actions.ts';
import { linkPurpose, newEmailPage, primaryEmailPage } from './rules.ts';

const parameter = 'confirmation_token';

interface LinkRequest {
  Querystring: Record<string, unknown>;
}

type Call = DoorCall<Caller, LinkRequest>;

/** @param again the path that sends the link again */
function pageFor(
  { result, email = '' }: Outcome,
  again: { action: string; token: string },
): [status: number, page: HtmlPage] {
  switch (result) {
    case 'confirmed':
      return [200, { title: 'Address confirmed', parts: [`${email} is confirmed. You can close this page.`] }];
    case 'known':
      return [
        200,
        { title: 'Address confirmed', parts: [`${email} was confirmed before. There is nothing left to do.`] },
      ];
    case 'waiting':
      return [
        200,
        { title: 'Mail sent', parts: [`A link to confirm ${email} is on its way. Please look for the newest mail.`] },
      ];
    case 'taken': {
      const text = `${email} belongs to another account by now. The addresses of your account stay as they are.`;
      return [409, { title: 'Address not confirmed', parts: [text] }];
    }
    case 'expired': {
      const form = { button: 'Send another link', action: again.action, fields: { [parameter]: again.token } };
      return [410, { title: 'Link expired', parts: [`The link to confirm ${email} is too old.`, form] }];
    }
    case 'gone': {
      const text =
        'The link is incomplete, or its address is no longer waiting for confirmation. Add the address again to get another link.';
      return [404, { title: 'Link not valid', parts: [text] }];
    }
  }
}

type Follow = typeof confirm;

async function answer(call: Call, action: string, value: unknown, follow: Follow): Promise<FastifyReply> {
  const token = typeof value === 'string' ? value : '';
  const { services } = call;
  const seed = services.secrets.seedOfLink(linkPurpose, token);
  const outcome: Outcome = seed === undefined ? { result: 'gone' } : await follow(services.db, seed);
  return sendPage(call, ...pageFor(outcome, { action, token }));
}

/** The two doors of a link. A HEAD must not confirm anything, so it is not supported. */
const doorsOf = (url: string) => [
  door<Caller, LinkRequest>({
    method: 'GET',
    url,
    without_head: true,
    handle: (call) => answer(call, url, call.request.query[parameter], confirm),
  }),
  door<Caller, LinkRequest>({
    method: 'POST',
    url,
    handle: (call) => answer(call, url, call.fields[parameter], sendAgain),
  }),
];

export const emailPages: Doorway = {
  cost: 'usual',
  doors: [newEmailPage, primaryEmailPage].flatMap(doorsOf),
  errors: (services) => pageForm(services, (reason) => ({ title: 'Address not confirmed', parts: [reason] })),
};
