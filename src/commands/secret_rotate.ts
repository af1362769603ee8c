import { existsSync } from 'node:fs';
import path from 'node:path';
import { audit } from '../areas/instance/audit_events/index.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/index.ts';
import { fingerprintOf, keyInFile, type Secrets, secretsFrom } from '../secrets/index.ts';
import { secretKeyFile, secretsOf } from '../services/index.ts';
import { counted } from '../texts/index.ts';
import { type Rotated, rotateSecret } from '../upkeep/secret_rotation.ts';
import { type Command, OperatorError, required } from './command.ts';
import { alone } from './database.ts';
import { otherKey } from './instance.ts';

export const secretRotate: Command = {
  summary: 'Encrypt the secrets in the database with a new secret key',
  help: `npm run coppice -- secret rotate --to FILE

Options
  --to FILE          the new key; a random one is written to the file if it does not exist

Stop all servers first, and give them the new key before they start again. One transaction changes all values, so that
the old key stays the right one when the command is interrupted; run it again with the same file. docs/operating.md
says what else depends on the key.`,
  options: { to: { type: 'string' } },
  audits: ['cli_command'],
  run: async (given, config) => {
    const file = path.resolve(required(given, 'to'));
    if (config.geo.role === 'secondary')
      throw new OperatorError('Rotate the secret key of the primary; its secondaries follow.');
    const isNew = !existsSync(file);
    const to = secretsFrom(keyInFile(file));
    if (isNew) console.log(`A new secret key was written to ${file}.`);
    const rotated = await alone(config, inUse, (db) => rotate(db, secretsOf(config), to));
    console.log(rotated === undefined ? `The database already uses the key in ${file}.` : summaryOf(rotated));
    console.log(nextStep(config, file));
    return 0;
  },
};

const inUse = 'Another process of Coppice is using the database. Stop all servers before you rotate the secret key.';

/** @returns undefined when the database has the new key already */
function rotate(db: Database, from: Secrets, to: Secrets): Promise<Rotated | undefined> {
  return db.transaction().execute(async (tx) => {
    const instance = await tx.selectFrom('instance').select('secret_fingerprint').forUpdate().executeTakeFirst();
    if (instance === undefined)
      throw new OperatorError('The database is empty: a server can start with the new key at once.');
    if (instance.secret_fingerprint.equals(fingerprintOf(to))) return undefined;
    if (!instance.secret_fingerprint.equals(fingerprintOf(from))) throw new OperatorError(otherKey);
    const details = { custom_message: 'Encrypted the secrets with a new key' };
    await audit(tx, { event_name: 'cli_command', entity: 'instance', details });
    return await rotateSecret(tx, { from, to });
  });
}

function summaryOf({ changed, unreadable }: Rotated): string {
  const done = `${counted(changed, 'value')} encrypted with the new key.`;
  return unreadable === 0
    ? done
    : `${done} ${counted(unreadable, 'value')} left, because the old key does not decrypt them; check names them.`;
}

function nextStep(config: Config, file: string): string {
  const own = secretKeyFile(config);
  if (config.secretKey !== undefined)
    return `Set COPPICE_SECRET_KEY to the key in ${file}, or COPPICE_SECRET_KEY_FILE to ${file}, for every server before it starts.`;
  return `Move ${file} to ${own} before the server starts.`;
}
