/** Writing the file of an export: records or archives, compressed, into the blob store. */
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../../db/index.ts';
import { type Caller, reaches } from '../../../http/index.ts';
import type { ExportedRelation } from '../../../relations/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { storeBlob } from '../../instance/blobs/index.ts';
import { exporterInJob } from './access.ts';
import type { BegunFile, ExportedArchive, Relation } from './definition.ts';
import { finishFile, finishPlan } from './end_actions.ts';
import { type Progress, receiveCompressed } from './gzip_actions.ts';
import { relationsOf } from './relation_definition.ts';
import { tarOf } from './tar_actions.ts';

type Writing = Pick<JobServices, 'db' | 'url' | 'blobs' | 'storages'>;

interface Content {
  caller: Caller;
  file: BegunFile;
  tx: Database;
  signal: AbortSignal;
}

/** Records as lines of bytes. Empty if the plan does not include the relation. */
async function* linesOf(
  { storages }: Writing,
  relation: ExportedRelation,
  { caller, file, tx }: Content,
  progress: Progress,
): AsyncGenerator<Buffer> {
  if (!reaches(caller.plan, relation.plan)) return;
  for await (const { text, count } of relation.lines(tx, { caller, owner: file.owner, storages }, file.batch)) {
    progress.objects += count;
    yield Buffer.from(text);
  }
}

/** The entries of an archive, counted. */
async function* counted(entries: ReturnType<ExportedArchive['entries']>, progress: Progress): typeof entries {
  for await (const entry of entries) {
    yield entry;
    if (entry.is_object) progress.objects++;
  }
}

function contentOf(services: Writing, relation: Relation, content: Content, progress: Progress, log: Logger): Readable {
  if (relation.form !== 'archive')
    return Readable.from(linesOf(services, relation, content, progress), { objectMode: false });
  const { file, tx, signal } = content;
  const entries = relation.entries({ ...services, tx, owner: file.owner, batch: file.batch, signal, log });
  return tarOf(counted(entries, progress));
}

/** Runs all reads in one snapshot. A large file can take long, but blocks nobody, because nothing is locked. */
const inSnapshot = <T>(db: Database, read: (tx: Database) => Promise<T>): Promise<T> =>
  db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
      return read(tx);
    });

/**
 * Writes a file, or lists the batches of an export.
 * @param progress is updated during the run
 * @throws PermissionDenied if the user may no longer export, TakenOver, and errors from reading and storing
 */
export async function writeFile(
  services: Writing,
  file: BegunFile,
  { progress, signal, log }: { progress: Progress; signal: AbortSignal; log: Logger },
): Promise<void> {
  const { db } = services;
  const caller = await exporterInJob(services, file.user_id, file.owner);
  const relation = relationsOf[file.owner.kind].find(({ name }) => name === file.relation);
  if (!relation) throw new Error(`The relation ${file.relation} is not exported any more.`);
  if (file.batched && file.batch === undefined) {
    const { relation_export_batch_size: size } = await settingsOf(db);
    const departure = { caller, owner: file.owner, storages: services.storages };
    const batches = reaches(caller.plan, relation.plan)
      ? await inSnapshot(db, (tx) => relation.batches(tx, departure, size))
      : [];
    return finishPlan(db, file, batches);
  }
  const blob = await inSnapshot(db, (tx) => {
    const content = contentOf(services, relation, { caller, file, tx, signal }, progress, log);
    return receiveCompressed(services.blobs, content, { form: relation.form, progress, signal });
  });
  const key = await storeBlob(db, blob);
  const { size_bytes, sha256 } = blob;
  await finishFile(db, file, { key, size_bytes, sha256, objects_count: progress.objects });
}
