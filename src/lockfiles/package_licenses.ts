/** Licenses that packages declare in files committed with a project (docs/reference/dependencies.md#licenses). */
import { advisedName } from './entries.ts';
import {
  childOf,
  childrenOf,
  childText,
  itemsOf,
  jsonOf,
  memberOf,
  objectIn,
  textAt,
  textOf,
  tomlOf,
  xmlOf,
} from './formats.ts';
import { licensesInText } from './license_texts.ts';
import { licensesIn } from './licenses.ts';
import { inherited, projectIn } from './pom.ts';

/** The content of a file about a package. */
export interface DeclaredLicenses {
  /** As OSV names it. */
  ecosystem: string;
  advised_name: string;
  /** Null when the file does not state it. */
  version: string | null;
  licenses: string[];
}

/** Larger files are not read. */
export const maximumMetadata_bytes = 1024 * 1024;
const maximumPackages = 5_000;
const maximumLength = 255;

type Declared = Omit<DeclaredLicenses, 'ecosystem' | 'advised_name'> & { name: string };

interface Kind {
  /** Matches the path; a group is the name of the package, if only the path contains it. */
  pattern: RegExp;
  ecosystem: string;
  read(bytes: Uint8Array, name: string): Declared[];
}

const fromJson: Kind['read'] = (bytes) => {
  const about = objectIn(jsonOf(bytes));
  const licenses = licensesIn(memberOf(about, 'license') ?? memberOf(about, 'licenses'));
  return [{ name: textAt(about, 'name'), version: textAt(about, 'version'), licenses }];
};

const fromCargo: Kind['read'] = (bytes) => {
  const about = memberOf(tomlOf(bytes), 'package');
  return [
    {
      name: textAt(about, 'name'),
      version: textAt(about, 'version'),
      licenses: licensesIn(textAt(about, 'license').replaceAll('/', ' OR ')),
    },
  ];
};

const fromText: Kind['read'] = (bytes, name) => [{ name, version: null, licenses: licensesInText(textOf(bytes)) }];

/** `installed.json` of Composer. */
const fromComposer: Kind['read'] = (bytes) => {
  const all = jsonOf(bytes);
  return itemsOf(memberOf(all, 'packages') ?? all).map((about) => ({
    name: textAt(about, 'name'),
    version: textAt(about, 'version').replace(/^v(?=\d)/, ''),
    licenses: licensesIn(memberOf(about, 'license')),
  }));
};

/** A specification of a gem, as far as it is literal. */
const fromGemspec: Kind['read'] = (bytes) => {
  const text = textOf(bytes);
  const literal = (name: string) =>
    new RegExp(`^[ \\t]*\\w+\\.${name}\\s*=\\s*["']([^"'\n]*)["']`, 'm').exec(text)?.[1] ?? '';
  const opening = /^[ \t]*\w+\.licenses\s*=\s*\[/m.exec(text);
  const [list = ''] = opening ? text.slice(opening.index + opening[0].length).split(']', 1) : [];
  const licenses = [...list.matchAll(/["']([^"'\n]*)["']/g)].map(([, each]) => each);
  return [
    {
      name: literal('name'),
      version: literal('version'),
      licenses: licensesIn(licenses.length > 0 ? licenses : literal('license')),
    },
  ];
};

/** Core metadata of Python: the classifiers are used when the license is a whole text. */
const fromPython: Kind['read'] = (bytes) => {
  const [head = ''] = textOf(bytes).split(/\r?\n\r?\n/, 1);
  const values = (name: string) =>
    [...head.matchAll(new RegExp(`^${name}:[ \\t]*(.*)$`, 'gim'))].map(([, value = '']) => value.trim());
  const [expression = ''] = values('License-Expression');
  const [license = ''] = values('License');
  const classified = values('Classifier').flatMap((each) => /^License :: (?:.* :: )?(.+)$/.exec(each)?.[1] ?? []);
  const isShort = license !== '' && license.length <= 100 && !/^(?:dual license|copyright)/i.test(license);
  const said =
    expression !== '' ? expression : isShort ? license : classified.filter((each) => each !== 'OSI Approved');
  return [{ name: values('Name')[0] ?? '', version: values('Version')[0] ?? '', licenses: licensesIn(said) }];
};

const fromNuspec: Kind['read'] = (bytes) => {
  const about = childOf(xmlOf(bytes), 'metadata');
  const license = childOf(about, 'license');
  const said = license?.attributes.type === 'expression' ? license.text : '';
  const [, page = ''] = /^https?:\/\/licenses\.nuget\.org\/([\w.+-]+)$/.exec(childText(about, 'licenseUrl')) ?? [];
  return [{ name: childText(about, 'id'), version: childText(about, 'version'), licenses: licensesIn(said || page) }];
};

const fromPom: Kind['read'] = (bytes) => {
  const project = projectIn(bytes);
  const licenses = childrenOf(childOf(project, 'licenses'), 'license').map((each) => childText(each, 'name'));
  const name = `${inherited(project, 'groupId')}/${childText(project, 'artifactId')}`;
  return [{ name, version: inherited(project, 'version'), licenses: licensesIn(licenses) }];
};

const kinds: readonly Kind[] = [
  { pattern: /(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/, ecosystem: 'npm', read: fromJson },
  { pattern: /(?:^|\/)vendor\/[^/]+\/Cargo\.toml$/, ecosystem: 'crates.io', read: fromCargo },
  {
    pattern: /(?:^|\/)vendor\/([^/.]+\.[^/]+\/.+)\/(?:LICEN[CS]E|COPYING)(?:\.(?:md|txt))?$/,
    ecosystem: 'Go',
    read: fromText,
  },
  { pattern: /(?:^|\/)vendor\/composer\/installed\.json$/, ecosystem: 'Packagist', read: fromComposer },
  { pattern: /\.gemspec$/, ecosystem: 'RubyGems', read: fromGemspec },
  { pattern: /\.dist-info\/METADATA$/, ecosystem: 'PyPI', read: fromPython },
  { pattern: /\.nuspec$/, ecosystem: 'NuGet', read: fromNuspec },
  { pattern: /(?:^|\/)pom\.xml$|\.pom$/, ecosystem: 'Maven', read: fromPom },
];

/** All patterns in one, since every path of a repository is compared. */
const anyName =
  /(?:\/(?:package\.json|Cargo\.toml|installed\.json|METADATA|(?:LICEN[CS]E|COPYING)(?:\.(?:md|txt))?)|(?:^|\/)pom\.xml|\.(?:gemspec|nuspec|pom))$/;

/** The ecosystem of the packages whose license a file declares, by its path alone; undefined for other files. */
export const licensedEcosystem = (path: string): string | undefined =>
  anyName.test(path) ? kinds.find(({ pattern }) => pattern.test(path))?.ecosystem : undefined;

/** Whether a file can declare the license of a package, by its name without its folders. */
export const mayTellLicense = (name: string): boolean => anyName.test(`/${name}`);

const isName = (text: string) =>
  text !== '' && text.length <= maximumLength && text.isWellFormed() && !text.includes('\0');

/**
 * The licenses of packages that a file declares; none for an unreadable file.
 * @param path one that has a `licensedEcosystem`
 */
export function declaredIn(path: string, bytes: Uint8Array): DeclaredLicenses[] {
  const kind = kinds.find(({ pattern }) => pattern.test(path))!;
  try {
    return kind
      .read(bytes, kind.pattern.exec(path)?.[1] ?? '')
      .slice(0, maximumPackages)
      .filter(
        ({ name, version, licenses }) => licenses.length > 0 && isName(name) && (version === null || isName(version)),
      )
      .map(({ name, ...others }) => ({
        ...others,
        ecosystem: kind.ecosystem,
        advised_name: advisedName(kind.ecosystem, name),
      }));
  } catch {
    return [];
  }
}
