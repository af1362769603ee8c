/** Package URLs, which bills of materials use to name packages. */
import { inAddress } from '../foundation/addresses.ts';
import type { PackageManager } from './entries.ts';
import { pythonName } from './entries.ts';
import { jvmManagerOf } from './jvm.ts';

/** The fields of a package URL. */
export interface Purl {
  name: string;
  version: string;
  manager: PackageManager;
  /** Set where the manager alone does not determine it. */
  ecosystem?: string | null;
  advised_name?: string;
}

type Manager = (path: string) => PackageManager;

const npmManager: Manager = (path) =>
  path.endsWith('yarn.lock') ? 'yarn' : path.endsWith('pnpm-lock.yaml') ? 'pnpm' : 'npm';

function pythonManager(path: string): PackageManager {
  if (path.endsWith('Pipfile.lock')) return 'pipenv';
  if (path.endsWith('poetry.lock')) return 'poetry';
  if (path.endsWith('uv.lock')) return 'uv';
  return /(?:setup\.(?:py|cfg)|pyproject\.toml)$/.test(path) ? 'setuptools' : 'pip';
}

const managers = new Map<string, Manager>([
  ['apk', () => 'apk'],
  ['cargo', () => 'cargo'],
  ['composer', () => 'composer'],
  ['conan', () => 'conan'],
  ['conda', () => 'conda'],
  ['deb', () => 'deb'],
  ['gem', () => 'bundler'],
  ['golang', () => 'go'],
  ['maven', jvmManagerOf],
  ['npm', npmManager],
  ['nuget', () => 'nuget'],
  ['pub', () => 'pub'],
  ['pypi', pythonManager],
]);

/** Whether a package URL is of a type that is not listed, such as `generic` or `docker`. */
export function isOfOtherType(text: string): boolean {
  const [, type] = /^pkg:\/{0,2}([a-zA-Z][\w.+-]*)\//.exec(text) ?? [];
  return type !== undefined && !managers.has(type.toLowerCase());
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The ecosystem of a distribution, from a qualifier such as `debian-12` or `alpine-3.19.1`. */
function ofDistribution(type: string, distro: string): string | null {
  const [, name, version] = /^([a-z]+)-(\d+(?:\.\d+)?)/.exec(distro) ?? [];
  if (type === 'deb' && name === 'debian' && version) return `Debian:${version.split('.', 1)[0]}`;
  return type === 'apk' && name === 'alpine' && version?.includes('.') ? `Alpine:v${version}` : null;
}

/**
 * Reads a package URL.
 * @param source_path the file that the package comes from, which distinguishes managers of the same packages
 * @returns undefined when it is malformed, has no version, or is of a type that is not listed
 */
export function readPurl(text: string, source_path: string): Purl | undefined {
  const [, type = '', path = '', version = '', query = ''] =
    /^pkg:\/{0,2}([a-zA-Z][\w.+-]*)\/([^?#]+?)(?:@([^?#@/]+))?(?:\?([^#]*))?(?:#.*)?$/.exec(text) ?? [];
  const managerOf = managers.get(type.toLowerCase());
  const segments = path
    .split('/')
    .map(decoded)
    .filter((segment) => segment !== '');
  if (!managerOf || version === '' || segments.length === 0) return undefined;
  const manager = managerOf(source_path);
  const short = segments.at(-1)!;
  const known = { version: decoded(version), manager };
  if (manager === 'deb' || manager === 'apk') {
    // A plus is itself here, unlike in forms.
    const qualifiers = new URLSearchParams(query.replaceAll('+', '%2B'));
    // Advisories cover the source package, whose version can differ.
    const [source = short, sourceVersion] = (qualifiers.get('upstream') ?? short).split('@');
    return {
      ...known,
      name: short,
      version: sourceVersion ?? known.version,
      ecosystem: ofDistribution(manager, qualifiers.get('distro') ?? ''),
      advised_name: source,
    };
  }
  if (type.toLowerCase() === 'pypi') return { ...known, name: pythonName(short) };
  if (manager === 'conan' || manager === 'conda' || manager === 'nuget') return { ...known, name: short };
  return { ...known, name: segments.join('/') };
}

const types: Partial<Record<PackageManager, string>> = {
  bundler: 'gem',
  go: 'golang',
  gradle: 'maven',
  pip: 'pypi',
  pipenv: 'pypi',
  pnpm: 'npm',
  poetry: 'pypi',
  sbt: 'maven',
  setuptools: 'pypi',
  uv: 'pypi',
  yarn: 'npm',
};

/** The package URL of a package as `dependencies` lists it. */
export function purlOf(manager: string, name: string, version: string): string {
  return `pkg:${types[manager as PackageManager] ?? manager}/${inAddress(name)}@${encodeURIComponent(version)}`;
}
