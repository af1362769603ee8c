/** Complete changes of users. */
import { passwordDigest } from '../../access/index.ts';
import { type Database, isUniqueViolation } from '../../db/index.ts';
import { conflict } from '../../http/index.ts';
import { addUserNamespace } from '../namespaces/index.ts';

export interface NewUser {
  username: string;
  name: string;
  email: string;
  /** Left out, nobody can sign in with one. */
  password?: string | undefined;
  admin?: boolean | undefined;
  /** Whether the address counts as confirmed at once. */
  confirmed: boolean;
  created_by_id?: number | undefined;
  /** Columns of the profile and of the account's limits, as they are. */
  profile?: object;
}

/**
 * Adds a user and the namespace for his own projects.
 * @param tx a transaction
 * @returns the id of the user
 * @throws ApiError 409 when the address or the name is taken (users-and-tokens.md section 4)
 */
export async function createUser(tx: Database, user: NewUser): Promise<number> {
  const { username, name, email, password, admin = false, confirmed, created_by_id, profile = {} } = user;
  const password_digest = password === undefined ? null : await passwordDigest(password);
  try {
    const { id } = await tx
      .insertInto('users')
      .values({ ...profile, username, name, email, admin, password_digest, created_by_id, confirmed_at: confirmed ? new Date() : null })
      .returning('id')
      .executeTakeFirstOrThrow();
    await addUserNamespace(tx, id, username, name);
    return id;
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key')) throw conflict('Email has already been taken');
    if (isUniqueViolation(error, 'users_username_key')) throw conflict('Username has already been taken');
    if (isUniqueViolation(error, 'namespaces_full_path_key')) throw conflict('Username has already been taken');
    throw error;
  }
}
