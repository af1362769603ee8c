/** The appearance of the instance. */
import type { Selectable } from 'kysely';
import { keptWithRights } from '../../../access/index.ts';
import { type Database, type DB, dataLoader } from '../../../db/index.ts';
import type { StoredFiles } from '../../../services/index.ts';
import { type PictureKind, pictureKinds, picturePath } from './rules.ts';

/** Texts and colours, and the paths of the pictures. */
export type Appearance = Omit<Selectable<DB['appearance']>, 'id'> & Record<PictureKind, string | null>;

/** The appearance as stored in the database. */
export async function readAppearance(db: Database): Promise<Appearance> {
  const [{ id: _, ...texts }, pictures] = await Promise.all([
    db.selectFrom('appearance').selectAll().executeTakeFirstOrThrow(),
    db.selectFrom('appearance_pictures').select(['kind', 'name']).execute(),
  ]);
  const paths = pictureKinds.map((kind) => {
    const picture = pictures.find((one) => one.kind === kind);
    return [kind, picture ? picturePath(kind, picture.name) : null] as const;
  });
  return { ...texts, ...(Object.fromEntries(paths) as Record<PictureKind, string | null>) };
}

const everybody = 'everybody';
const kept = keptWithRights(
  'appearance',
  (question: string) => question,
  dataLoader<string, Appearance>(
    (question) => question,
    async (db) => new Map([[everybody, await readAppearance(db)]]),
  ),
);

/**
 * The appearance for a request.
 * @param version the rights version of the request
 */
export const appearanceFor = async (db: Database, version: string): Promise<Appearance> =>
  (await kept(db, everybody, version))!;

export const pictureFiles: StoredFiles = {
  table: 'appearance_pictures',
  key: 'blob_key',
  kind: 'appearance',
  check: { noun: 'a picture', name: 'name', remedy: 'Restore it from a backup, or set the picture again.' },
};
