/**
 * The links by which recipients of mail unsubscribe. A link contains the recipient and the item, and is signed with the
 * server's key.
 */
import { type IssuableKind, issuableKinds } from '../../../access/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import type { Secrets } from '../../../secrets/index.ts';

const purpose = 'unsubscribing from notifications';

interface Subscription {
  kind: IssuableKind;
  user_id: number;
  /** The id of the item. */
  id: number;
}

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');

export const unsubscribePage = pagePath('/-/sent_notifications/:key/unsubscribe');

/** 16 bytes: the kind, the user and the item. */
const seedOf = ({ kind, user_id, id }: Subscription) =>
  `${hex(issuableKinds.indexOf(kind), 2)}${hex(user_id, 14)}${hex(id, 16)}`;

/** @param of the recipient, and the item to unsubscribe from */
export function unsubscribeUrl(
  { url, secrets }: { url: string; secrets: Secrets },
  { type, ...of }: { type: string } & Omit<Subscription, 'kind'>,
): string {
  const kind = issuableKinds.find((each) => each.type === type)!;
  return url + unsubscribePage(secrets.linkToken(purpose, seedOf({ kind, ...of })));
}

/** @returns undefined for a text that is not the token of a link of this server */
export function subscriptionOf(secrets: Secrets, key: string): Subscription | undefined {
  const seed = secrets.seedOfLink(purpose, key)?.replaceAll('-', '');
  const kind = seed && issuableKinds[Number.parseInt(seed.slice(0, 2), 16)];
  if (!seed || !kind) return undefined;
  return { kind, user_id: Number.parseInt(seed.slice(2, 16), 16), id: Number.parseInt(seed.slice(16), 16) };
}
