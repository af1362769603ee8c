/** Participants and subscriptions. */
import { sql } from 'kysely';
import { isReaderOf } from '../../../access/index.ts';
import { type AnyEndpoint, get, notModified, one, pageOf, post, withArticle } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import type { NounWith } from './definition.ts';
import { participants } from './queries.ts';
import { setSubscription } from './subscription_actions.ts';

/** The routes for subscribing to items of a kind, and for their participants. */
export function peopleRoutes({ kind, schema, presentSingle }: NounWith<'schema' | 'presentSingle'>): AnyEndpoint[] {
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
