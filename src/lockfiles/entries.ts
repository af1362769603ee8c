/** The packages that a file lists. */

/** The package managers whose files are read, under the names of the API, with the name of their packages in OSV records; null where there are no such records. */
const ecosystems = {
  apk: null,
  bundler: 'RubyGems',
  cargo: 'crates.io',
  composer: 'Packagist',
  conan: 'ConanCenter',
  conda: null,
  deb: null,
  go: 'Go',
  gradle: 'Maven',
  maven: 'Maven',
  npm: 'npm',
  nuget: 'NuGet',
  pip: 'PyPI',
  pipenv: 'PyPI',
  pnpm: 'npm',
  poetry: 'PyPI',
  pub: 'Pub',
  sbt: 'Maven',
  setuptools: 'PyPI',
  uv: 'PyPI',
  yarn: 'npm',
} as const;

export type PackageManager = keyof typeof ecosystems;

/** All package managers, in alphabetical order. */
export const packageManagers = Object.keys(ecosystems) as readonly PackageManager[];

/** A package in a file. Its name and version are not empty, at most 255 characters long, and free of control characters. */
export interface Entry {
  name: string;
  version: string;
  manager: PackageManager;
  /** The ecosystem of OSV whose records cover it, such as `npm` or `Debian:12`. */
  ecosystem: string | null;
  /** Its name there, in lower case where case does not count. */
  advised_name: string;
  /** Whether it is a direct dependency of the project; null when the file does not tell. */
  direct: boolean | null;
  /** Whether it is only needed to develop or test the project. */
  development: boolean;
  /** SPDX identifiers, one with an exception as `<id> WITH <exception>`, or other words of the file; empty when the file states none. */
  licenses: string[];
  /** For a bill of materials: the file that it names as the source of the package. */
  source_path: string | null;
}

/** The fields of a package that a parser extracts. */
export interface Found extends Pick<Entry, 'name' | 'version'> {
  manager?: PackageManager;
  ecosystem?: string | null;
  advised_name?: string;
  direct?: boolean | null;
  development?: boolean;
  licenses?: string[];
  source_path?: string | null;
}

/** A file of a repository. */
export interface FileBytes {
  /** From the top of the repository. */
  path: string;
  bytes: Uint8Array;
}

/** A file that can complete another one; null when there is none at its path. */
export interface ParentBytes {
  path: string;
  bytes: Uint8Array | null;
}

export interface Contents {
  entries: Entry[];
  /** Paths of other files that this one includes, from the top of the repository. */
  includes: string[];
  /** The paths of parents that were not given. With them, the file may list more. */
  wants?: string[];
  /** Descriptions of the parts of the file that were not understood. */
  error?: string;
}

/** A file cannot be read; the message is the reason, for people. */
export class Unreadable extends Error {
  override name = 'Unreadable';
}

/** Reading a file exceeded the limits of time or memory. */
export class TooCostly extends Unreadable {
  override name = 'TooCostly';
}

/** The maximum number of packages of a file, and of characters of a name or version. */
const maximumEntries = 100_000;
const maximumLength = 255;
/** The maximum length of a quoted part that is not understood. */
const maximumShown = 100;

/** A name of the Python Package Index as PEP 503 normalizes it. */
export const pythonName = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');

/**
 * The name under which advisories know a package.
 * @param name as an OSV record or a lock file writes it
 */
export function advisedName(ecosystem: string, name: string): string {
  if (ecosystem === 'PyPI') return pythonName(name);
  if (ecosystem === 'Maven') return name.replace(':', '/');
  return ecosystem === 'NuGet' || ecosystem === 'Packagist' || ecosystem === 'ConanCenter' ? name.toLowerCase() : name;
}

/** A text of a file, cleaned so that it can be stored and shown. */
export const withoutControls = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: The database takes no NUL, and no one needs the others.
  text.toWellFormed().replaceAll(/[\u0000-\u001f\u007f]+/g, ' ');

function checked(kind: string, text: string): string {
  if (text.length > maximumLength)
    throw new Unreadable(`It contains a ${kind} of more than ${maximumLength} characters.`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: These are what is looked for.
  if (!text.isWellFormed() || /[\u0000-\u001f\u007f]/.test(text))
    throw new Unreadable(`It contains a ${kind} with invalid characters.`);
  return text;
}

/** Collects the packages of a file, each name and version once: it is direct if any mention is, and for development if every mention is. */
export class Collector {
  readonly #entries = new Map<string, Entry>();
  readonly #manager: PackageManager;
  #unknown = 0;
  #firstUnknown = '';

  constructor(manager: PackageManager) {
    this.#manager = manager;
  }

  /**
   * Adds a package; one without a name or version is not understood.
   * @throws Unreadable for a name or version that cannot be one, or one package too many
   */
  add(found: Found): void {
    const name = checked('name', found.name.trim());
    const version = checked('version', found.version.trim());
    if (name === '' || version === '') return this.unknown(`${name} ${version}`);
    const { manager = this.#manager, direct = null, development = false, licenses = [] } = found;
    const source_path = found.source_path ? checked('path', found.source_path) : null;
    const key = `${manager}\n${name}\n${version}\n${source_path ?? ''}`;
    const known = this.#entries.get(key);
    if (known) {
      known.direct = known.direct || direct;
      known.development &&= development;
      if (known.licenses.length === 0) known.licenses = licenses;
      return;
    }
    if (this.#entries.size === maximumEntries) throw new Unreadable(`It lists more than ${maximumEntries} packages.`);
    const ecosystem = found.ecosystem ?? ecosystems[manager];
    const advised_name = found.advised_name ?? (ecosystem === null ? name : advisedName(ecosystem, name));
    this.#entries.set(key, {
      name,
      version,
      manager,
      ecosystem,
      advised_name,
      direct,
      development,
      licenses,
      source_path,
    });
  }

  /** Records a part of the file that is not understood: its packages are missing, and the file reports it. */
  unknown(text: string): void {
    this.#unknown += 1;
    if (this.#unknown > 1) return;
    this.#firstUnknown = withoutControls(text.slice(0, maximumShown)).trim();
  }

  /** The collected packages, in the order of the file. */
  contents(includes: string[] = []): Contents {
    const entries = [...this.#entries.values()];
    if (this.#unknown === 0) return { entries, includes };
    const [count, first] = [this.#unknown, this.#firstUnknown || '(empty)'];
    const error =
      count === 1
        ? `An entry is not understood: ${first}`
        : `${count} entries are not understood. The first is: ${first}`;
    return { entries, includes, error };
  }
}
