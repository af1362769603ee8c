/** The files of a repository that list dependencies, and their parsers (docs/reference/dependencies.md#files). */
import { readBom, readCycloneDx, readSpdx } from './boms.ts';
import type { Contents, PackageManager, ParentBytes } from './entries.ts';
import {
  readGradleBuild,
  readGradleGraph,
  readGradleLock,
  readGradleVerification,
  readMavenGraph,
  readNebula,
  readSbt,
  readSbtDot,
} from './jvm.ts';
import {
  readBundler,
  readCargo,
  readComposer,
  readConan,
  readCondaEnvironment,
  readCondaLock,
  readGoMod,
  readGoSum,
  readPub,
} from './locks.ts';
import { readNpm } from './npm.ts';
import { readNugetLock, readPackagesConfig } from './nuget.ts';
import { readProjectFile } from './nuget_projects.ts';
import { readPnpm } from './pnpm.ts';
import { readPom } from './pom.ts';
import { readPipDeptree, readPipfileLock, readPoetry, readUv } from './python_locks.ts';
import { readPyproject, readRequirements, readSetupCfg, readSetupPy } from './requirements.ts';
import { readYarn } from './yarn.ts';

/** Reads a file; the path is from the top of the repository. */
type Reader = (bytes: Uint8Array, path: string, parents?: readonly ParentBytes[]) => Contents;

interface Kind {
  /** Matches the path relative to the folder that the file describes. */
  pattern: RegExp;
  /** Null for a bill of materials, which covers several. */
  manager: PackageManager | null;
  read: Reader;
  /** Files of one family in a folder describe the same packages: only the files with the lowest rank are read. */
  family?: string;
  rank?: number;
}

const kinds: readonly Kind[] = [
  { pattern: /^Gemfile\.lock$|^gems\.locked$/, manager: 'bundler', read: readBundler },
  { pattern: /^Cargo\.lock$/, manager: 'cargo', read: readCargo },
  { pattern: /^composer\.lock$/, manager: 'composer', read: readComposer },
  { pattern: /^conan\.lock$/, manager: 'conan', read: readConan },
  { pattern: /^conda-lock\.ya?ml$/, manager: 'conda', read: readCondaLock, family: 'conda', rank: 0 },
  { pattern: /^environment\.ya?ml$/, manager: 'conda', read: readCondaEnvironment, family: 'conda', rank: 1 },
  { pattern: /^go\.mod$/, manager: 'go', read: readGoMod, family: 'go', rank: 0 },
  { pattern: /^go\.sum$/, manager: 'go', read: readGoSum, family: 'go', rank: 1 },
  {
    pattern: /^gradle\.lockfile$|^gradle\/dependency-locks\/[^/]+\.lockfile$/,
    manager: 'gradle',
    read: readGradleLock,
    family: 'gradle',
    rank: 0,
  },
  { pattern: /^dependencies\.lock$/, manager: 'gradle', read: readNebula, family: 'gradle', rank: 0 },
  { pattern: /^gradle\.graph\.txt$/, manager: 'gradle', read: readGradleGraph, family: 'gradle', rank: 0 },
  {
    pattern: /^gradle\/verification-metadata\.xml$/,
    manager: 'gradle',
    read: readGradleVerification,
    family: 'gradle',
    rank: 1,
  },
  { pattern: /^build\.gradle(?:\.kts)?$/, manager: 'gradle', read: readGradleBuild, family: 'gradle', rank: 2 },
  { pattern: /^maven\.graph\.json$/, manager: 'maven', read: readMavenGraph, family: 'maven', rank: 0 },
  { pattern: /^pom\.xml$/, manager: 'maven', read: readPom, family: 'maven', rank: 1 },
  { pattern: /^npm-shrinkwrap\.json$/, manager: 'npm', read: readNpm, family: 'npm', rank: 0 },
  { pattern: /^package-lock\.json$/, manager: 'npm', read: readNpm, family: 'npm', rank: 1 },
  { pattern: /^packages\.lock\.json$/, manager: 'nuget', read: readNugetLock, family: 'nuget', rank: 0 },
  { pattern: /^packages\.config$/, manager: 'nuget', read: readPackagesConfig, family: 'nuget', rank: 1 },
  { pattern: /^[^/]+\.(?:cs|fs|vb)proj$/, manager: 'nuget', read: readProjectFile, family: 'nuget', rank: 1 },
  {
    pattern: /^requirements\.(?:txt|pip)$|^requires\.txt$/,
    manager: 'pip',
    read: readRequirements,
    family: 'python',
    rank: 0,
  },
  { pattern: /^pip-deptree\.json$/, manager: 'pip', read: readPipDeptree, family: 'python', rank: 0 },
  { pattern: /^Pipfile\.lock$/, manager: 'pipenv', read: readPipfileLock, family: 'python', rank: 0 },
  { pattern: /^poetry\.lock$/, manager: 'poetry', read: readPoetry, family: 'python', rank: 0 },
  { pattern: /^uv\.lock$/, manager: 'uv', read: readUv, family: 'python', rank: 0 },
  { pattern: /^setup\.py$/, manager: 'setuptools', read: readSetupPy, family: 'python', rank: 1 },
  { pattern: /^setup\.cfg$/, manager: 'setuptools', read: readSetupCfg, family: 'python', rank: 1 },
  { pattern: /^pyproject\.toml$/, manager: 'setuptools', read: readPyproject, family: 'python', rank: 1 },
  { pattern: /^pnpm-lock\.yaml$/, manager: 'pnpm', read: readPnpm },
  { pattern: /^pubspec\.lock$/, manager: 'pub', read: readPub },
  { pattern: /^dependencies-compile\.dot$/, manager: 'sbt', read: readSbtDot, family: 'sbt', rank: 0 },
  { pattern: /^build\.sbt$/, manager: 'sbt', read: readSbt, family: 'sbt', rank: 1 },
  { pattern: /^yarn\.lock$/, manager: 'yarn', read: readYarn },
  { pattern: /^[^/]+\.spdx\.json$/, manager: null, read: readSpdx },
  { pattern: /^[^/]+\.cdx\.json$/, manager: null, read: readCycloneDx },
  { pattern: /^gl-sbom-[^/]*\.json$/, manager: null, read: readBom },
];

const alternatives = kinds.flatMap(({ pattern }) => pattern.source.replaceAll(/^\^|\$$/g, '').split('$|^'));
/** All patterns in one, since every path of a repository is compared. */
const anyPath = new RegExp(`(?:^|/)(?:${alternatives.join('|')})$`);
/** The parts of the patterns that match file names. */
const anyName = new RegExp(`^(?:${alternatives.map((alternative) => alternative.split('\\/').at(-1)).join('|')})$`);

/** A file that lists dependencies. */
export interface Listing {
  path: string;
  /** Null for a bill of materials. */
  manager: PackageManager | null;
}

/** Folders of third-party code and tests. */
const notRead = /(?:^|\/)(?:node_modules|vendor|tmp|spec|tests?)\//;

const isRead = (path: string, named: ReadonlySet<string>): boolean => named.has(path) || !notRead.test(path);

/** The kind of a file, and the folder that it describes. */
function kindOf(path: string): { kind: Kind; folder: string } | undefined {
  if (!anyPath.test(path)) return undefined;
  const parts = path.split('/');
  for (const length of [1, 2, 3]) {
    const name = parts.slice(-length).join('/');
    const kind = parts.length >= length ? kinds.find(({ pattern }) => pattern.test(name)) : undefined;
    if (kind) return { kind, folder: parts.slice(0, -length).join('/') };
  }
  return undefined;
}

/** Whether a file can be one that lists dependencies, by its name without its folders. */
export const mayBeListing = (name: string): boolean => anyName.test(name);

/** Whether a file may list dependencies, by its path alone, wherever it is. */
export const hasListingName = (path: string): boolean => kindOf(path) !== undefined;

/**
 * Whether a file is one that may be read, by its path alone.
 * @param named files that are also read below folders of third-party code and tests
 */
export const isListing = (path: string, named: ReadonlySet<string>): boolean =>
  isRead(path, named) && hasListingName(path);

/**
 * Selects the files of a repository that are read: not files below a folder of third-party code or tests, and not a manifest beside its lock file.
 * @param paths from the top of the repository
 * @param named files that are also read below such a folder
 */
export function listingsAmong(paths: Iterable<string>, named: ReadonlySet<string>): Listing[] {
  const known = [...paths].flatMap((path) => {
    const found = isRead(path, named) ? kindOf(path) : undefined;
    return found ? [{ path, ...found }] : [];
  });
  const best = new Map<string, number>();
  const keyOf = ({ kind, folder }: (typeof known)[number]) => `${kind.family}\n${folder}`;
  for (const each of known)
    best.set(keyOf(each), Math.min(best.get(keyOf(each)) ?? Number.POSITIVE_INFINITY, each.kind.rank ?? 0));
  return known
    .filter((each) => each.kind.family === undefined || each.kind.rank === best.get(keyOf(each)))
    .map(({ path, kind }) => ({ path, manager: kind.manager }));
}

/**
 * Reads a file that lists dependencies.
 * @param path from the top of the repository; an unknown name is a file of pip that another includes
 * @throws Unreadable
 */
export const readListing: Reader = (bytes, path, parents) =>
  (kindOf(path)?.kind.read ?? readRequirements)(bytes, path, parents);

/** Reads a bill of materials that was uploaded. */
export const readDocument: Reader = readBom;
