/** The administrator that the first start creates, and the text it prints about the account. */
import { sql } from 'kysely';
import { createToken } from '../areas/people/personal_access_tokens/index.ts';
import { passwordLink_hours, passwordLinkFor } from '../areas/people/sessions/index.ts';
import { createUser } from '../areas/people/users/index.ts';
import { type Config, mailDomain } from '../config.ts';
import type { Database } from '../db/index.ts';
import { secretsOf } from '../services/index.ts';
import { newPassword } from './user_create.ts';

export interface FirstAdministrator {
  /** Each is omitted if the operator has set it. */
  password: string | undefined;
  token: string | undefined;
  /** The address where they choose a password, unless the operator has set one. */
  password_link: string | undefined;
}

/** An arbitrary number. Servers that start together on a new database must create only one administrator. */
const lock = 726_673_002;

/**
 * Creates the user `root` with a token, unless there is an administrator.
 * @param tell prints the credentials before they are stored, because they would otherwise be lost
 * @returns undefined if there is an administrator
 */
export async function addFirstAdministrator(
  db: Database,
  config: Config,
  tell: (administrator: FirstAdministrator) => void,
): Promise<FirstAdministrator | undefined> {
  const { rootPassword, rootToken, rootEmail, url } = config;
  return await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${lock})`.execute(tx);
    const known = await tx
      .selectFrom('users')
      .select('id')
      .where((q) => q.or([q('admin', '=', true), q('username', '=', 'root')]))
      .limit(1)
      .executeTakeFirst();
    if (known !== undefined) return undefined;
    const password = rootPassword ?? newPassword();
    const email = rootEmail ?? `root@${mailDomain(url)}`;
    const user_id = await createUser(tx, {
      username: 'root',
      name: 'Administrator',
      email,
      password,
      admin: true,
      confirmed: true,
    });
    const { value } = await createToken(tx, {
      user_id,
      name: 'First token',
      scopes: ['api', 'read_repository', 'write_repository', 'sudo', 'admin_mode'],
      expires_at: null,
      value: rootToken,
    });
    const administrator = {
      password: rootPassword ? undefined : password,
      token: rootToken ? undefined : value,
      password_link: rootPassword ? undefined : await passwordLinkOf(config, tx, user_id),
    };
    tell(administrator);
    return administrator;
  });
}

/** The address of a page where a user chooses a password. It works once. */
export const passwordLinkOf = async (config: Config, db: Database, user_id: number): Promise<string> =>
  config.url + (await passwordLinkFor({ secrets: secretsOf(config) }, db, user_id));

/** The credentials for the first login. They are never shown again. */
export function secretsText({ password, token }: FirstAdministrator): string {
  const once = [password && 'password', token && 'token'].filter(Boolean).join(' and ');
  return `
The first administrator is root.
  Password  ${password ?? 'the one in COPPICE_ROOT_PASSWORD'}
  Token     ${token ?? 'the one in COPPICE_ROOT_TOKEN'}
${once ? `The ${once} will not be shown again; \`npm run coppice -- token create --help\` explains how to create another token.\n` : ''}`;
}

/** The text that the first start prints when the server listens. */
export function welcome(url: string, { token, password_link }: FirstAdministrator): string {
  const header = `--header "PRIVATE-TOKEN: ${token ?? '$COPPICE_ROOT_TOKEN'}"`;
  return `
Coppice is ready at ${url}

Open it in a browser
  ${url}/users/sign_in
${password_link ? `Choose the password of root there; the link works once, within ${passwordLink_hours} hours\n  ${password_link}\n` : ''}
Try
  curl ${header} ${url}/api/v4/version
  curl ${header} --data name=hello ${url}/api/v4/projects
  curl ${header} ${url}/api/v4/projects/root%2Fhello

Every endpoint is described at ${url}/docs. Ctrl-C stops Coppice.
`;
}
