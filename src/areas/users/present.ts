/** How users appear in replies (users-and-tokens.md section 1). */
import { type Static, Type } from 'typebox';
import { Id, nullable, resource } from '../../http/index.ts';

/** The form in which users appear as authors, assignees and members. */
export const userBasicFields = {
  id: Id,
  username: Type.String(),
  name: Type.String(),
  state: Type.String(),
  locked: Type.Boolean(),
  public_email: nullable(Type.String()),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
};
export const UserBasic = resource('UserBasic', userBasicFields);

export const userBasicColumns = ['users.id', 'users.username', 'users.name', 'users.state', 'users.public_email'] as const;

interface UserBasicRow {
  id: number;
  username: string;
  name: string;
  state: string;
  public_email: string;
}

/**
 * @param url the external address of the server
 * @param user the columns of `userBasicColumns`
 */
export const presentUserBasic = (url: string, { id, username, name, state, public_email }: UserBasicRow): Static<typeof UserBasic> => ({
  id,
  username,
  name,
  state,
  locked: false,
  public_email,
  avatar_url: null,
  web_url: `${url}/${username}`,
});
