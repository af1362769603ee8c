/** What the files of jobs may be, and what is in them (docs/reference/job_artifacts.md). Pure functions. */
import { isInside, type ZipEntry } from '../../../archives/index.ts';

export const formats = ['zip', 'gzip', 'raw'] as const;
export type Format = (typeof formats)[number];

/** The types of files that a job may leave, one of each. Each but the archive is a report. */
export const fileTypes = [
  ...(['archive', 'junit', 'dotenv', 'cobertura', 'jacoco', 'cyclonedx', 'dependency_scanning', 'sast'] as const),
  ...([
    'secret_detection',
    'container_scanning',
    'dast',
    'codequality',
    'terraform',
    'metrics',
    'annotations',
  ] as const),
] as const;
export type FileType = (typeof fileTypes)[number];

/** Whether files of a type have a format. */
export const fits = (type: FileType, format: Format): boolean => (type === 'archive') === (format === 'zip');

/** Who may read the files of a job, of those who may read the job. */
export type Accessibility = 'all' | 'developer' | 'none';

/** The content is not a list of variables. */
export class InvalidDotenv extends Error {
  override name = 'InvalidDotenv';
}

export interface DotenvVariable {
  key: string;
  value: string;
}

const maximumKey_chars = 255;
const assignment = /^\s*([A-Za-z_]\w*)\s*=(.*)$/;

/** A value without the quotes around it. */
const unquoted = (value: string): string => /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;

/**
 * The variables in lines of the form `KEY=value`. The last line of a key counts; lines of blanks do not.
 * @param options.most_variables 0: no limit
 * @throws InvalidDotenv
 */
export function dotenvIn(bytes: Uint8Array, { most_variables }: { most_variables: number }): DotenvVariable[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new InvalidDotenv('Invalid Format');
  }
  const variables = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const [, key, value = ''] = assignment.exec(line) ?? [];
    if (key === undefined || key.length > maximumKey_chars || value.includes('\0'))
      throw new InvalidDotenv('Invalid Format');
    variables.set(key, unquoted(value.trim()));
  }
  if (most_variables > 0 && variables.size > most_variables)
    throw new InvalidDotenv(`Dotenv files cannot have more than ${most_variables} variables`);
  return Array.from(variables, ([key, value]) => ({ key, value }));
}

/** Something directly in a folder of an archive, or below it. */
export interface TreeEntry {
  name: string;
  path: string;
  type: 'file' | 'directory' | 'link';
  size: number | null;
  /** Six digits. */
  mode: string;
}

const octal = (mode: number): string => mode.toString(8).padStart(6, '0');
const typeBits = { file: 0o100000, directory: 0o040000, link: 0o120000 };

/** Collects what is in a folder of an archive. An archive need not have entries for its folders. */
export class Tree {
  readonly #folder: string;
  readonly #is_recursive: boolean;
  readonly #entries = new Map<string, TreeEntry>();

  /** @param folder its path with a slash at the end; empty for the top */
  constructor(folder: string, is_recursive: boolean) {
    this.#folder = folder;
    this.#is_recursive = is_recursive;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Names that leave the archive are not shown. */
  add({ name, type, size_bytes, mode }: ZipEntry): void {
    if (!name.startsWith(this.#folder) || name.length === this.#folder.length || !isInside(name)) return;
    const path = name.replace(/\/$/, '');
    for (let at = path.indexOf('/', this.#folder.length); at >= 0; at = path.indexOf('/', at + 1)) {
      this.#put(path.slice(0, at), { type: 'directory', size: null, mode: 0o755 });
      if (!this.#is_recursive) return;
    }
    this.#put(path, { type, size: type === 'directory' ? null : size_bytes, mode });
  }

  #put(path: string, { type, size, mode }: Pick<TreeEntry, 'type' | 'size'> & { mode: number }): void {
    if (this.#entries.has(path)) return;
    const name = path.slice(path.lastIndexOf('/') + 1);
    this.#entries.set(path, { name, path, type, size, mode: octal(typeBits[type] + mode) });
  }

  /** Folders first, each in the order of names. */
  get entries(): TreeEntry[] {
    const rank = ({ type }: TreeEntry) => (type === 'directory' ? 0 : 1);
    const order = (one: TreeEntry, other: TreeEntry) => (this.#is_recursive ? 0 : rank(one) - rank(other));
    return [...this.#entries.values()].toSorted((one, other) => order(one, other) || (one.path < other.path ? -1 : 1));
  }
}
