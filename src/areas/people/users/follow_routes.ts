/** Following users. */
import { signedIn } from '../../../access/index.ts';
import { type Database, isForeignKeyViolation } from '../../../db/index.ts';
import { type Caller, found, get, Id, notFound, notModified, one, pageOf, post } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { UserBasic } from './fields.ts';
import { presentUserBasic, userBasicColumns } from './present.ts';
import { basicUser } from './queries.ts';

/** @throws ApiError 404 for users who do not exist or whose profile is private */
async function checkProfile(db: Database, caller: Caller, id: number): Promise<void> {
  const { private_profile } = found(
    'User',
    await db.selectFrom('users').select('private_profile').where('id', '=', id).executeTakeFirst(),
  );
  if (private_profile && !caller.admin && caller.id !== id) throw notFound('User');
}

/** @throws ApiError 304 for users who are already followed, and for the follower themselves; 404 */
async function follow(db: Database, follower_id: number, followed_id: number): Promise<void> {
  if (follower_id === followed_id) throw notModified();
  const followed = await db
    .insertInto('user_follows')
    .values({ follower_id, followed_id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('followed_id')
    .executeTakeFirst()
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error, 'user_follows_followed_id_fkey') ? notFound('User') : error;
    });
  if (!followed) throw notModified();
}

/** @throws ApiError 304 for users who are not followed */
async function unfollow(db: Database, follower_id: number, followed_id: number): Promise<void> {
  const unfollowed = await db
    .deleteFrom('user_follows')
    .where('follower_id', '=', follower_id)
    .where('followed_id', '=', followed_id)
    .returning('followed_id')
    .executeTakeFirst();
  if (!unfollowed) throw notModified();
}

const changes = (name: 'follow' | 'unfollow', summary: string, change: typeof follow) =>
  post(`/users/:id/${name}`, {
    operation: `${name}User`,
    summary,
    access: signedIn,
    input: { id: Id },
    returns: one(UserBasic),
    refusals: {
      304: name === 'follow' ? 'The caller already follows the user.' : 'The caller does not follow the user.',
      404: '404 User Not Found',
    },
    handle: async ({ db, url, caller, input: { id } }) => {
      await checkProfile(db, caller, id);
      await change(db, caller.id, id);
      return presentUserBasic(url, await basicUser(db, id));
    },
  });

const list = (
  name: 'followers' | 'following',
  summary: string,
  { own, other }: Record<'own' | 'other', 'follower_id' | 'followed_id'>,
) =>
  get(`/users/:id/${name}`, {
    operation: name === 'followers' ? 'listFollowers' : 'listFollowedUsers',
    summary,
    access: signedIn,
    scopes: ['read_user'],
    input: { id: Id, ...paging },
    returns: pageOf(UserBasic),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, url, caller, input }) => {
      await checkProfile(db, caller, input.id);
      const people = db
        .selectFrom('users')
        .innerJoin('user_follows', `user_follows.${other}`, 'users.id')
        .select(userBasicColumns)
        .where(`user_follows.${own}`, '=', input.id)
        .orderBy(`user_follows.${other}`);
      const page = await paginate(db, people, input);
      return mapPage(page, (user) => presentUserBasic(url, user));
    },
  });

export const userFollowRoutes = [
  changes('follow', 'Follow a user', follow),
  changes('unfollow', 'Unfollow a user', unfollow),
  list('followers', 'List the followers of a user', { own: 'followed_id', other: 'follower_id' }),
  list('following', 'List the users that a user follows', { own: 'follower_id', other: 'followed_id' }),
];
