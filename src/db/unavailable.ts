import pg from 'pg';

/**
 * Classes of SQLSTATE that do not blame the statement: connection lost (08, except 08P01: too many parameters), out of resources (53), operator intervention
 * (57P), disk (58).
 */
const states = /^(08(?!P01)|53|57P|58)/;
const systemErrors = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'ENOSPC', 'EDQUOT']);

/**
 * Whether a statement failed because the database cannot be reached or cannot work now, so that the same request may succeed later.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return states.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  // The driver has no codes for these.
  return code === undefined
    ? /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/.test(
        error.message,
      )
    : systemErrors.has(code);
}
