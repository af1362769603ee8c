/** The page for the unsubscribe link in mail. It needs no sign-in: the link identifies its recipient. */
import { type Caller, type Doorway, door } from '../../../http/index.ts';
import { type HtmlPage, pageForm, sendPage } from '../../../pages/index.ts';
import type { Services } from '../../../services/index.ts';
import { subscriptionOf, unsubscribePage } from '../../activity/notifications/index.ts';
import { setSubscription } from './subscription_actions.ts';

interface LinkRequest {
  Params: { key: string };
}

const unknown: HtmlPage = {
  title: 'Link not valid',
  parts: ['The link is incomplete. Copy all of it from the message.'],
};

async function unsubscribe({ db, secrets }: Services, key: string): Promise<HtmlPage | undefined> {
  const subscription = subscriptionOf(secrets, key);
  if (!subscription) return undefined;
  const { kind, id, user_id } = subscription;
  await setSubscription(db, { kind, id }, user_id, false);
  return { title: 'Unsubscribed', parts: [`You get no more mail about this ${kind.name}, unless it mentions you.`] };
}

function ask(services: Services, key: string): HtmlPage | undefined {
  const subscription = subscriptionOf(services.secrets, key);
  const form = { button: 'Unsubscribe', action: unsubscribePage(key) };
  return subscription && { title: 'Unsubscribe', parts: [`Unsubscribe from this ${subscription.kind.name}?`, form] };
}

const doorFor = (method: 'GET' | 'POST', pageOf: typeof unsubscribe | typeof ask) =>
  door<Caller, LinkRequest>({
    method,
    url: unsubscribePage.pattern,
    handle: async (call) => {
      const page = await pageOf(call.services, call.request.params.key);
      return page ? sendPage(call, 200, page) : sendPage(call, 404, unknown);
    },
  });

export const notificationPages: Doorway = {
  cost: 'usual',
  // Mail programs post to the URL that people open; opening it must not unsubscribe, because some programs open every link.
  doors: [doorFor('GET', ask), doorFor('POST', unsubscribe)],
  errors: (services) => pageForm(services, (reason) => ({ title: 'Not unsubscribed', parts: [reason] })),
};
