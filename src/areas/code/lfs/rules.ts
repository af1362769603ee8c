/** Pointer files, and the validation of LFS requests. */
/** A large file by its SHA-256 in hexadecimal. */
export interface LfsFile {
  oid: string;
  /** In bytes. */
  size: number;
}

/** A pointer is shorter than this many bytes. */
export const pointerLimit_bytes = 1024;

const pointerPattern =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:[a-z0-9.-]+ .+\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n?$/;

/** The large file that a pointer file refers to; undefined for content that is not a pointer. */
export function pointerIn(content: Buffer): LfsFile | undefined {
  if (content.length >= pointerLimit_bytes) return undefined;
  const [, oid, size] = pointerPattern.exec(content.toString('utf8')) ?? [];
  return oid === undefined ? undefined : { oid, size: Number(size) };
}

export const isOid = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** git-lfs requests 100 objects at a time. */
export const maximumBatch = 1000;

/** Whether a text can be the path of a lock: PostgreSQL must be able to store and index it. */
export const isLockPath = (path: unknown): path is string =>
  typeof path === 'string' &&
  path !== '' &&
  !path.includes('\0') &&
  path.isWellFormed() &&
  Buffer.byteLength(path) <= 2000;
