/** The secret key of a server, which encrypts values in its database. It is never stored in the database. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { syncFolderNow } from '../foundation/durable_names.ts';

const fewest_characters = 32;

/** The key file cannot be read or created: a sentence for the operator. */
export class SecretKeyError extends Error {}

/**
 * The key in a file, which is created when it does not exist.
 * @param file absolute path
 * @throws SecretKeyError
 */
export function keyInFile(file: string): string {
  try {
    const key = readIfThere(file) ?? makeKey(file);
    if (key.length >= fewest_characters) return key;
    throw new SecretKeyError(`${file} must hold at least ${fewest_characters} characters; it may have been cut short.`);
  } catch (error) {
    if (error instanceof SecretKeyError) throw error;
    throw new SecretKeyError(
      `The secret key in ${file} can be neither read nor created (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Processes that start together must get the same key, and a crash must not leave half of one: the first to link its file wins. */
function makeKey(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, `${randomBytes(48).toString('base64url')}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    linkSync(draft, file);
    syncFolderNow(path.dirname(file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}
