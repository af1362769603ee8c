/** Reads files that list dependencies in a separate thread, with limits of time and memory: they are large, and untrusted. */
import { FairThreads, type Work } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { type Entry, type FileBytes, type ParentBytes, TooCostly, Unreadable } from './entries.ts';
import type { NamedPackage } from './paths.ts';

/** A file that lists dependencies. */
export interface ToReadListing extends FileBytes {
  /** Whether it is an uploaded bill of materials, whatever its path. */
  is_document: boolean;
  parents: readonly ParentBytes[];
}

/** Files that tell the licenses of packages. */
export interface ToReadLicenses {
  files: readonly FileBytes[];
}

/** Packages to which the ways in a lock file are asked. */
export interface ToFindWays extends FileBytes {
  packages: readonly NamedPackage[];
}

export type ToReader = ToReadListing | ToReadLicenses | ToFindWays;

/**
 * Some packages of a file, ready for the database: for each member, a JSON array of its values. Licenses are written as PostgreSQL writes an array of texts. The
 * database reads such columns in a tenth of the time that as many objects take.
 */
export type Portion = Record<keyof Entry, string>;

/** The packages that a file lists. */
export interface ReadFile {
  /** The packages, up to 10,000 in each portion. */
  portions: Portion[];
  count: number;
  /** Paths of other files that this one includes, from the top of the repository. */
  includes: string[];
  /** The paths of parents that were not given. With them, the file may list more. */
  wants?: string[];
  /** Descriptions of the parts of the file that were not understood. */
  error?: string;
}

/** For each package, the ones through which it is needed; none if that is not known. */
export type Ways = string[][];

/** For licenses, what each file declares, as JSON arrays of `DeclaredLicenses`. */
type Answer = ReadFile | string[] | Ways;

export type FromReader = { answer: Answer } | { reason: string };

/** The largest file that is read. */
export const maximumListing_bytes = 32 * 1024 * 1024;

const threads = new FairThreads<ToReader, FromReader>('lockfiles/reading_worker', {
  heap_mib: 512,
  budget_ms: 10_000,
  mostWaiting: 100,
});

/** Starts a thread, if there is none, so that it is ready when the caller has fetched the file. */
export const wakeReader = (): void => threads.wake();

async function ask(request: ToReader, work: Work): Promise<Answer> {
  try {
    const message = await threads.run(request, work);
    if ('answer' in message) return message.answer;
    throw new Unreadable(message.reason);
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error;
    throw new TooCostly(`Reading it takes too ${error.resource === 'time' ? 'long' : 'much memory'}.`);
  }
}

/**
 * Reads a file that lists dependencies.
 * @param path from the top of the repository; its name says what the file is, unless it is an uploaded bill of materials
 * @param work its owner is the project
 * @param parents files that earlier answers wanted
 * @throws Unreadable with the reason; TooCostly when it takes too long or too much memory; TooMuchWaiting
 */
export async function readFile(
  path: string,
  bytes: Uint8Array,
  work: Work,
  { is_document = false, parents = [] }: Partial<Pick<ToReadListing, 'is_document' | 'parents'>> = {},
): Promise<ReadFile> {
  if (bytes.length > maximumListing_bytes)
    throw new Unreadable(`It is larger than ${maximumListing_bytes / 1024 / 1024} MiB.`);
  return (await ask({ path, bytes, is_document, parents }, work)) as ReadFile;
}

/**
 * Reads files that tell the licenses of packages.
 * @param work its owner is the project
 * @returns for each file, a JSON array of `DeclaredLicenses`
 * @throws TooCostly when they take too long or too much memory together; TooMuchWaiting
 */
export const readLicenses = async (files: readonly FileBytes[], work: Work): Promise<string[]> =>
  (await ask({ files }, work)) as string[];

/**
 * The packages through which a project comes to need others (`waysTo`).
 * @param path of a lock file
 * @param work its owner is the project
 * @throws Unreadable with the reason; TooCostly when it takes too long or too much memory; TooMuchWaiting
 */
export const findWays = async (
  path: string,
  bytes: Uint8Array,
  packages: readonly NamedPackage[],
  work: Work,
): Promise<Ways> => (await ask({ path, bytes, packages }, work)) as Ways;
