/** Errors of the file system and of an unreachable database, as sentences for the operator. */

import { OnStandby } from '../db/index.ts';

const reasons: Record<string, string> = {
  EACCES: 'this account is not allowed to use it',
  EDQUOT: 'the quota of this account is used up',
  EFBIG: 'it would be larger than the file system or this account allows',
  EIO: 'the disk reports an error',
  EMFILE: 'too many files are open',
  ENOENT: 'it does not exist',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file is where a folder should be',
  EPERM: 'this account is not allowed to change it',
  EROFS: 'the file system is read-only',
};

/** The sentence for an error of the file system; undefined for any other error. */
export function fileReason(error: unknown): string | undefined {
  const { code = '', syscall = '', path } = error as NodeJS.ErrnoException;
  // Node creates parent folders as needed, and reports ENOENT where the file system refuses with EROFS.
  const isRefused = syscall === 'mkdir' && code === 'ENOENT';
  const reason = isRefused ? 'it cannot be created; the file system is probably read-only' : reasons[code];
  if (reason === undefined || syscall === 'connect' || syscall.startsWith('spawn')) return undefined;
  return `${path ?? 'A file'}: ${reason} (${code}).`;
}

/**
 * Why the database of COPPICE_DATABASE_URL cannot be used, without its password.
 * @param error of connecting to it
 */
export function databaseReason(error: unknown, connectionString: string): string {
  const { message } = error as Error;
  const code = error instanceof OnStandby ? 'standby' : ((error as NodeJS.ErrnoException).code ?? '');
  const { host, name } = placeIn(connectionString);
  const why: Record<string, string> = {
    ECONNREFUSED: `nothing listens at ${host}`,
    ENOENT: `nothing listens at ${host}`,
    ENOTFOUND: `the host of ${host} cannot be resolved`,
    EAI_AGAIN: `the host of ${host} cannot be resolved`,
    ETIMEDOUT: `${host} does not answer`,
    '28P01': 'the password is wrong',
    '28000': 'the user is not admitted',
    '3D000': `there is no database ${name} at ${host}; create it first`,
    standby: `${host} is a standby, which accepts no writes`,
    '57P03': 'it is starting or stopping; try again in a moment',
  };
  // The driver has no code for a password that the server asks for and the address does not contain.
  const isPasswordMissing = message.endsWith('client password must be a string');
  const reason = isPasswordMissing ? 'the server asks for a password, which the address does not contain' : why[code];
  return `The database of COPPICE_DATABASE_URL cannot be reached: ${reason ?? (message || code)}.`;
}

function placeIn(connectionString: string): { host: string; name: string } {
  try {
    const { host, pathname, searchParams } = new URL(connectionString);
    return { host: host || searchParams.get('host') || 'its host', name: decodeURIComponent(pathname.slice(1)) };
  } catch {
    return { host: 'its host', name: 'of that name' };
  }
}
