/** Steps that read archives: uploads with the avatar, and large files. */

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { type TarEntry, tarEntries } from '../../../archives/index.ts';
import { type BlobKey, BlobMismatch } from '../../../blobs/index.ts';
import { ApiError, textOf, UploadedFile } from '../../../http/index.ts';
import { importObject } from '../../code/lfs/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { storeBlob, useBlob } from '../../instance/blobs/index.ts';
import { receiveAvatar, setAvatar } from '../../people/avatars/index.ts';
import { inStep, record } from './journal_actions.ts';
import { exportedFile, unpackedLimit } from './source/export_queries.ts';
import { ask, bytesIfShown, isRecord, pathAtSource } from './source/queries.ts';
import { ownerOf, type Step, type StepCall, type StepFailure } from './step_definition.ts';
import { throughBatches } from './steps/batch_actions.ts';
import { uploadName } from './steps/text_rules.ts';

interface Archive {
  name: string;
  /** The pattern that names of entries must match. */
  form: RegExp;
  /** Whether an entry only supports other entries and is no record itself. */
  isAside?(name: string): boolean;
  /** Imports an entry; an earlier run may already have imported it. @returns the reason if it was refused */
  take(call: StepCall, name: string, content: Readable): Promise<string | undefined>;
}

const failure = (relation: string, message: string, title: string): StepFailure => ({
  relation,
  step: 'loader',
  exception_class: 'InvalidRecord',
  message,
  title,
  url: null,
});

async function takeEntry(
  call: StepCall,
  { name: relation, take, isAside }: Archive,
  entry: TarEntry,
): Promise<StepFailure | undefined | 'aside'> {
  if ('problem' in entry) return failure(relation, `The entry is refused: ${entry.problem}.`, entry.name);
  if (isAside?.(entry.name)) return 'aside';
  const refusal = await take(call, entry.name, Readable.from(entry.content));
  return refusal === undefined ? undefined : failure(relation, refusal, entry.name);
}

const archiveStep = (archive: Archive): Step => ({
  name: archive.name,
  run: (call) =>
    throughBatches(call, archive.name, async (exported, { batch, line }) => {
      const file = await exportedFile(call, archive.name, exported, batch);
      const limits = { most_bytes: await unpackedLimit(call), isWanted: (name: string) => archive.form.test(name) };
      let number = 0;
      for await (const entry of tarEntries(createReadStream(file), limits)) {
        number += 1;
        if (number <= line) continue;
        if (call.isOverdue()) return false;
        const failed = await takeEntry(call, archive, entry);
        const counts =
          failed === 'aside' ? {} : { [archive.name]: { fetched: 1, imported: failed === undefined ? 1 : 0 } };
        const failures = failed === undefined || failed === 'aside' ? [] : [failed];
        await inStep(call.db, call.step.id, (tx, row) =>
          record(tx, call, row, { batch, line: number, counts, failures }),
        );
      }
      await rm(file, { force: true });
      return true;
    }),
});

const maximumAvatar_bytes = 10_000_000;

async function takeAvatar(call: StepCall, name: string, content: Readable): Promise<string | undefined> {
  const { db, blobs, entity } = call;
  const { kind, id } = ownerOf(entity);
  const received = await blobs.receive(`avatars/${randomUUID()}`, content, { at_most_bytes: maximumAvatar_bytes });
  try {
    const avatar = await receiveAvatar({ db, blobs }, new UploadedFile(name, received));
    await db.transaction().execute((tx) => setAvatar(tx, kind === 'group' ? 'namespaces' : 'projects', id, avatar));
    return undefined;
  } catch (error) {
    await received.discard();
    if (error instanceof ApiError) return textOf(error);
    throw error;
  }
}

async function takeUpload(
  call: StepCall,
  secret: string,
  name: string,
  content: Readable,
): Promise<string | undefined> {
  const { db, blobs, entity, migration } = call;
  const { kind, id } = ownerOf(entity);
  const owner = { project_id: kind === 'project' ? id : null, group_id: kind === 'group' ? id : null };
  const at_most_bytes = (await settingsOf(db)).max_attachment_size * 1024 * 1024;
  const key: BlobKey = `uploads/${randomUUID()}`;
  const received = await blobs.receive(key, content, { at_most_bytes });
  const { size_bytes, sha256 } = received;
  await storeBlob(db, received);
  const isTaken = await db.transaction().execute(async (tx) => {
    const row = {
      ...owner,
      user_id: migration.user_id,
      secret,
      filename: uploadName(name),
      blob_key: key,
      size_bytes,
      sha256,
    };
    const added = await tx
      .insertInto('uploads')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (added) {
      await useBlob(tx, key);
      return false;
    }
    const there = tx.selectFrom('uploads').select(['project_id', 'group_id']).where('secret', '=', secret);
    const other = await there.executeTakeFirst();
    return other?.project_id !== owner.project_id || other?.group_id !== owner.group_id;
  });
  return isTaken ? 'Another project or group has an upload with this address.' : undefined;
}

const uploads = archiveStep({
  name: 'uploads',
  form: /^(?:[0-9a-f]{32}|avatar)\/[^/]+$/,
  async take(call, path, content) {
    const [folder, name] = path.split('/') as [string, string];
    try {
      return folder === 'avatar'
        ? await takeAvatar(call, name, content)
        : await takeUpload(call, folder, name, content);
    } catch (error) {
      if (error instanceof BlobMismatch) return 'The file is too large.';
      throw error;
    }
  },
});

async function hasAvatar({ db, entity }: StepCall): Promise<boolean> {
  const { kind, id } = ownerOf(entity);
  const row = db
    .selectFrom(kind === 'group' ? 'namespaces' : 'projects')
    .select('avatar_key')
    .where('id', '=', id);
  return (await row.executeTakeFirst())?.avatar_key != null;
}

/** Downloads the avatar from a source that does not export it with the uploads. */
async function bringAvatar(call: StepCall): Promise<void> {
  const { db, source, step } = call;
  const at = pathAtSource(call.entity);
  const { value } = await ask(source, at);
  const name =
    isRecord(value) && typeof value.avatar_url === 'string' ? value.avatar_url.split('/').at(-1)! : undefined;
  if (name === undefined || (await hasAvatar(call))) return;
  const bytes = await bytesIfShown(source, `${at}/avatar`, maximumAvatar_bytes);
  if (!bytes) return;
  const refusal = await takeAvatar(call, name, Readable.from([bytes]));
  await inStep(db, step.id, (tx, row) =>
    record(tx, call, row, {
      counts: { uploads: { fetched: 1, imported: refusal === undefined ? 1 : 0 } },
      failures: refusal === undefined ? [] : [failure('uploads', refusal, `avatar/${name}`)],
    }),
  );
}

export const uploadsStep: Step = {
  name: uploads.name,
  async run(call) {
    const outcome = await uploads.run(call);
    if (typeof outcome !== 'object') await bringAvatar(call);
    return outcome;
  },
};

export const lfsStep: Step = archiveStep({
  name: 'lfs_objects',
  form: /^(?:[0-9a-f]{64}|lfs_objects\.json)$/,
  isAside: (name) => name === 'lfs_objects.json',
  async take(call, oid, content) {
    try {
      await importObject(call, ownerOf(call.entity).id, oid, content);
      return undefined;
    } catch (error) {
      if (error instanceof BlobMismatch) return 'The SHA-256 of the content is not that of its name.';
      throw error;
    }
  },
});
