/** Dependencies in replies. */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { Id, nullable, optional, resource } from '../../../http/index.ts';
import { namedLicenses, packageManagers } from '../../../lockfiles/index.ts';
import { Severities, severityOf, vulnerabilityPage } from '../vulnerabilities/present.ts';
import type { FoundVulnerability } from '../vulnerabilities/queries.ts';

export const PackageManager = Type.Enum([...packageManagers]);

const License = resource('DependencyLicense', {
  name: Type.String({ description: '`unknown` when no file says which one it is' }),
  spdx_identifier: nullable(Type.String({ description: 'Null for words that are not in the SPDX list' })),
  url: nullable(Type.String()),
});

const DependencyVulnerability = resource('DependencyVulnerability', {
  name: Type.String({ description: 'The CVE ID, otherwise a summary or the ID of the record' }),
  severity: Severities,
  id: Id,
  url: Type.String(),
});

export const dependencyMembers = {
  name: Type.String(),
  version: Type.String(),
  direct: nullable(
    Type.Boolean({ description: 'Whether the project names it itself; null when the file does not say' }),
  ),
  development: Type.Boolean({ description: 'Whether it is only needed for development' }),
  package_manager: PackageManager,
  dependency_file_path: Type.String({ description: 'The path of the file that lists it' }),
  vulnerabilities: optional(
    Type.Array(DependencyVulnerability, {
      description: 'Left out if the caller cannot read the vulnerabilities of the project',
    }),
  ),
  licenses: Type.Array(License),
};

export const Dependency = resource('Dependency', dependencyMembers);

/** The columns of a dependency. */
export const dependencyColumns = ['name', 'version', 'direct', 'development', 'package_manager', 'path'] as const;

/** The license declared by the file that lists a dependency, or else by a file of its package. */
export const knownLicenses = sql<
  string[]
>`case when dependencies.licenses = '{}' then dependencies.found_licenses else dependencies.licenses end`.as(
  'licenses',
);

interface ShownDependency {
  name: string;
  version: string;
  direct: boolean | null;
  development: boolean;
  package_manager: string;
  path: string;
  licenses: string[];
  /** Null if the caller may not read them. */
  vulnerabilities: FoundVulnerability[] | null;
}

/** A dependency in the list of its project. */
export const presentDependency = (
  { name, version, direct, development, package_manager, path, licenses, vulnerabilities }: ShownDependency,
  place: { url: string; full_path: string },
): Static<typeof Dependency> => ({
  name,
  version,
  direct,
  development,
  package_manager: package_manager as Static<typeof PackageManager>,
  dependency_file_path: path,
  ...(vulnerabilities && {
    vulnerabilities: vulnerabilities.map((each) => ({
      name: each.name,
      severity: severityOf(each.severity),
      id: each.id,
      url: place.url + vulnerabilityPage(place.full_path, each.id),
    })),
  }),
  licenses: namedLicenses(licenses),
});
