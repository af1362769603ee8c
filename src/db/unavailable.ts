import pg from 'pg';

/**
 * Classes of SQLSTATE that are not the fault of the statement: connection lost (08, except 08P01: too many parameters), out of resources (53), operator intervention
 * (57P), disk (58).
 */
const states = /^(08(?!P01)|53|57P|58)/;
const systemErrors = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'ENOSPC', 'EDQUOT']);

/** The host of a connection is a standby, which accepts no writes. */
export class OnStandby extends Error {
  constructor() {
    super('the server is a standby');
  }
}

/** System errors that connections to the database met. They are tracked, because errors of files and of clients have the same codes. */
const ofDatabase = new WeakSet<Error>();

/** Marks an error as coming from a connection to the database, and returns it. */
export function metByDatabase(error: unknown): unknown {
  if (error instanceof Error) ofDatabase.add(error);
  return error;
}

/**
 * Whether an error means that the database is unreachable or cannot work now, so that the same request may succeed later.
 * @param error of a statement, or any other error
 */
export function isUnavailable(error: unknown): boolean {
  return hasLostDatabase(error) && (!isOfSystem(error) || ofDatabase.has(error));
}

/**
 * The same for an error that can only come from a connection to the database.
 */
export function hasLostDatabase(error: unknown): error is Error {
  if (error instanceof pg.DatabaseError) return states.test(error.code ?? '');
  if (!(error instanceof Error)) return false;
  if (error instanceof OnStandby) return true;
  // Errors for which the driver has no codes.
  return isOfSystem(error)
    ? systemErrors.has((error as NodeJS.ErrnoException).code!)
    : /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/.test(
        error.message,
      );
}

const isOfSystem = (error: Error): boolean =>
  !(error instanceof pg.DatabaseError) && (error as NodeJS.ErrnoException).code !== undefined;
