/** Who takes part in an epic, and who is told of it. */
import { sql } from 'kysely';
import { epicReader, epicVisible, isReaderOf } from '../../../access/index.ts';
import { alsoUnder, get, notModified, one, pageOf, paginate, paging, post } from '../../../http/index.ts';
import { presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import { Epic } from './present.ts';
import { presentSingleEpic } from './queries.ts';
import { setEpicSubscription } from './subscriptions.ts';

const path = '/groups/:id/epics/:epic_iid';

const subscribing = (subscribed: boolean, verb: 'subscribe' | 'unsubscribe', summary: string) =>
  post(`${path}/${verb}`, {
    summary,
    access: epicReader,
    plan: 'ultimate',
    returns: one(Epic),
    handle: async ({ db, url, caller, epic }) => {
      if (!(await setEpicSubscription(db, caller.id, epic.id, subscribed))) throw notModified();
      return presentSingleEpic({ db, url }, caller, epic);
    },
  });

/** Ids of users: internal notes make nobody known who may not be. */
const participants = (epic_id: number) => sql`
  select author_id from epics where id = ${epic_id}
  union select author_id from notes where epic_id = ${epic_id} and not system and not internal
  union select user_id from user_mentions left join notes on notes.id = note_id
         where user_mentions.epic_id = ${epic_id} and notes.internal is not true`;

const routes = [
  subscribing(true, 'subscribe', 'Be told of what happens to an epic'),
  subscribing(false, 'unsubscribe', 'Not be told any more of what happens to an epic'),
  get(`${path}/participants`, {
    summary: 'List who takes part in an epic: its author, and who has commented on it or is named in it',
    access: epicVisible,
    plan: 'ultimate',
    input: paging,
    returns: pageOf(UserBasic),
    handle: async ({ db, url, epic, input }) => {
      const query = db
        .selectFrom('users')
        .select(userBasicColumns)
        .where(sql<boolean>`users.id in (${participants(epic.id)})`)
        .where(isReaderOf({ epic_id: epic.id }))
        .orderBy('users.id');
      const { items, ...page } = await paginate(db, query, input);
      return { ...page, items: items.map((user) => presentUserBasic(url, user)) };
    },
  }),
];

export const epicPeopleRoutes = alsoUnder('/epics', '/-/epics', routes);
