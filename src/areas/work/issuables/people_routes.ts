/** Participants and subscriptions. */
import { sql } from 'kysely';
import type { TSchema } from 'typebox';
import { type IssuableKind, isReaderOf, type MaybeCaller, type PlacedIssuable } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  get,
  notModified,
  one,
  pageOf,
  post,
  type Services,
  withArticle,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import { participants } from './queries.ts';
import { setSubscription } from './subscription_actions.ts';

/** A kind of noteable with participants. */
export interface Followable {
  kind: IssuableKind;
  schema: TSchema;
  /** One of them as the reply of an operation on it, with `subscribed`. */
  presentSingle(services: Pick<Services, 'db' | 'url'>, caller: MaybeCaller, on: PlacedIssuable): Promise<unknown>;
}

/** Subscribing to things of one kind, and their participants. */
export function peopleRoutes({ kind, schema, presentSingle }: Followable): AnyEndpoint[] {
  const { at, name, type, assignees, reviewers } = kind;
  const subscribing = (subscribed: boolean, verb: 'subscribe' | 'unsubscribe', summary: string) =>
    post(`${at.path}/${verb}`, {
      operation: subscribed ? `subscribeTo${type}` : `unsubscribeFrom${type}`,
      summary,
      access: at.reader(),
      returns: one(schema),
      refusals: { 304: subscribed ? 'The caller is already subscribed.' : 'The caller is not subscribed.' },
      handle: async ({ db, url, caller, on }) => {
        if (!(await setSubscription(db, on, caller.id, subscribed))) throw notModified();
        return presentSingle({ db, url }, caller, on);
      },
    });
  const people = ['its author', ...(assignees ? ['its assignees'] : []), ...(reviewers ? ['its reviewers'] : [])].join(
    ', ',
  );
  return kind.endpoints([
    subscribing(true, 'subscribe', `Subscribe to ${withArticle(name)}`),
    subscribing(false, 'unsubscribe', `Unsubscribe from ${withArticle(name)}`),
    get(`${at.path}/participants`, {
      operation: `list${type}Participants`,
      summary: `List the participants of ${withArticle(name)}: ${people}, commenters and mentioned users`,
      access: at.visible(),
      input: paging,
      returns: pageOf(UserBasic),
      handle: async ({ db, url, on, input }) => {
        const query = db
          .selectFrom('users')
          .select(userBasicColumns)
          .where(sql<boolean>`users.id in (${participants(on)})`)
          .where(isReaderOf(on))
          .orderBy('users.id');
        const page = await paginate(db, query, input);
        return mapPage(page, (user) => presentUserBasic(url, user));
      },
    }),
  ]);
}
