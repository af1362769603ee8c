/** Preferences and activities of users. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { signedIn } from '../../../access/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import {
  allOptional,
  atLeastOneOf,
  DateOnly,
  deprecated,
  found,
  get,
  Id,
  one,
  optional,
  pageOf,
  put,
  resource,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';

const preferences = {
  view_diffs_file_by_file: Type.Boolean(),
  show_whitespace_in_diffs: Type.Boolean(),
  pass_user_identities_to_ci_jwt: Type.Boolean(),
  notified_of_own_activity: Type.Boolean({
    description: 'Whether notifications also tell users of what they did themselves',
  }),
};
const names = Object.keys(preferences) as (keyof typeof preferences)[];
const UserPreferences = resource('UserPreferences', { id: Id, user_id: Id, ...preferences });

async function preferencesOf(db: Database, user_id: number) {
  const query = db.selectFrom('users').select(names).select(['id', 'id as user_id']).where('id', '=', user_id);
  return found('User', await query.executeTakeFirst());
}

const UserActivity = resource('UserActivity', {
  username: Type.String(),
  last_activity_on: DateOnly,
  last_activity_at: deprecated('use `last_activity_on`', Type.String({ format: 'date' })),
});

export const userPreferenceRoutes = [
  get('/user/preferences', {
    operation: 'getOwnPreferences',
    summary: "Show the current user's preferences",
    access: signedIn,
    scopes: ['read_user'],
    returns: one(UserPreferences),
    handle: ({ db, caller }) => preferencesOf(db, caller.id),
  }),
  put('/user/preferences', {
    operation: 'updateOwnPreferences',
    summary: "Update the current user's preferences",
    access: signedIn,
    input: allOptional(preferences),
    rules: [atLeastOneOf(...names)],
    returns: one(UserPreferences),
    handle: async ({ db, caller, input }) => {
      await db.updateTable('users').set(stamped(input)).where('id', '=', caller.id).execute();
      return preferencesOf(db, caller.id);
    },
  }),
  get('/user/activities', {
    operation: 'listUserActivities',
    summary: 'List the last activity of users, least recently active first',
    description: 'Only administrators see the activity of others who have a private profile.',
    access: signedIn,
    scopes: ['read_user'],
    input: { ...paging, from: optional(DateOnly) },
    returns: pageOf(UserActivity),
    handle: async ({ db, caller, input }) => {
      const from =
        input.from === undefined
          ? sql<string>`(current_date - interval '6 months')::date`
          : sql<string>`${input.from}::date`;
      const active = db
        .selectFrom('users')
        .select(['username', 'last_activity_on', 'last_activity_on as last_activity_at'])
        .where('last_activity_on', '>=', from)
        .$if(!caller.admin, (query) =>
          query.where((q) => q.or([q('private_profile', '=', false), q('id', '=', caller.id)])),
        )
        .orderBy('last_activity_on')
        .orderBy('id')
        .$narrowType<{ last_activity_on: string; last_activity_at: string }>();
      return paginate(db, active, input);
    },
  }),
];
