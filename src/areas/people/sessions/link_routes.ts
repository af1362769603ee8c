/** Links by which a user chooses a password, for servers that send no mail. */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { found, Id, one, post, resource } from '../../../http/index.ts';
import { passwordLinkFor } from './password_actions.ts';

const SignInLink = resource('SignInLink', { username: Type.String(), link: Type.String() });

export const signInLinkRoute = post('/users/:id/sign_in_link', {
  operation: 'createSignInLink',
  summary: 'Make a link by which a user chooses a password, once and within some hours',
  access: admin,
  input: { id: Id },
  returns: one(SignInLink),
  refusals: { 404: '404 User Not Found' },
  handle: async ({ db, url, secrets, input }) => {
    const query = db.selectFrom('users').select('username').where('id', '=', input.id).where('user_type', '=', 'human');
    const { username } = found('User', await query.executeTakeFirst());
    return { username, link: url + (await passwordLinkFor({ secrets }, db, input.id)) };
  },
});
