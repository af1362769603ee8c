/** Uploaded bills of materials, for projects that are built elsewhere. */
import type { Database } from '../../../db/index.ts';
import { TooMuchWaiting } from '../../../foundation/fair_threads.ts';
import { badRequest, type Conditions, type Services, type UploadedFile } from '../../../http/index.ts';
import { type ReadFile, Unreadable } from '../../../lockfiles/index.ts';
import { bytesOf } from '../../instance/blobs/index.ts';
import { matchPackages } from '../vulnerabilities/match_actions.ts';
import { refreshVulnerabilities } from '../vulnerabilities/refresh_actions.ts';
import { storeFile, withPackages } from './file_actions.ts';
import { readOnce } from './reading_actions.ts';

const maximumDocuments = 100;
const maximumName = 255;

export const tooMany = `A project can have at most ${maximumDocuments} uploaded documents.`;
export const tooManyWaiting = 'Too many documents of the project are waiting to be read.';
export const tooLong = `The name of the file has more than ${maximumName} characters.`;

/** The services used to store a document while the client waits. */
type Serving = Pick<Services, 'db' | 'blobs'> & Pick<Conditions, 'left'>;

/**
 * The content of a document. The bytes themselves are not stored.
 * @throws ApiError 400 with the reason if it cannot be parsed
 */
async function contentsOf({ db, blobs, left }: Serving, project_id: number, file: UploadedFile): Promise<ReadFile> {
  const work = { owner: project_id, content: `document ${file.sha256}`, signal: left() };
  try {
    return await readOnce(db, file.name, await bytesOf({ db, blobs }, file), work, { is_document: true });
  } catch (error) {
    if (error instanceof TooMuchWaiting) throw badRequest(tooManyWaiting);
    throw error instanceof Unreadable ? badRequest(error.message) : error;
  }
}

/** @throws ApiError 400 if the project has reached the limit; a document of the same name is replaced, so it does not count */
async function refuseTooMany(tx: Database, project_id: number, path: string): Promise<void> {
  const { count } = await tx
    .selectFrom('dependency_files')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('project_id', '=', project_id)
    .where('blob_id', 'is', null)
    .where('job_id', 'is', null)
    .where('path', '<>', path)
    .executeTakeFirstOrThrow();
  if (count >= maximumDocuments) throw badRequest(tooMany);
}

export interface StoredDocument {
  id: number;
  path: string;
  count: number;
}

/**
 * Stores the content of a bill of materials, replacing an earlier document of the same name.
 * @throws ApiError 400 with the reason
 */
export async function addDocument(services: Serving, project_id: number, file: UploadedFile): Promise<StoredDocument> {
  const { db } = services;
  if (file.name.length > maximumName) throw badRequest(tooLong);
  const outcome = await contentsOf(services, project_id, file);
  return withPackages(db, outcome, async () => {
    await matchPackages(db);
    return db.transaction().execute(async (tx) => {
      // Locked, so that concurrent uploads cannot exceed the limit together, and the vulnerabilities reflect both.
      await tx.selectFrom('projects').select('id').where('id', '=', project_id).forNoKeyUpdate().executeTakeFirst();
      await refuseTooMany(tx, project_id, file.name);
      const id = await storeFile(tx, { project_id, path: file.name, blob_id: null, manager: null, outcome });
      await refreshVulnerabilities(tx, [project_id]);
      return { id, path: file.name, count: outcome.count };
    });
  });
}

/**
 * Removes a document and its dependencies.
 * @returns whether it existed
 */
export function removeDocument(db: Database, project_id: number, id: number): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const gone = await tx
      .deleteFrom('dependency_files')
      .where('project_id', '=', project_id)
      .where('id', '=', id)
      .where('blob_id', 'is', null)
      .where('job_id', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (gone) await refreshVulnerabilities(tx, [project_id]);
    return gone !== undefined;
  });
}
