/** Dependencies as the API shows them. */
import { type Static, Type } from 'typebox';
import { nullable, resource } from '../../../http/index.ts';
import { namedLicenses, packageManagers } from '../../../lockfiles/index.ts';

export const PackageManager = Type.Enum([...packageManagers]);

const License = resource('DependencyLicense', {
  name: Type.String({ description: '`unknown` when no file says which one it is' }),
  spdx_identifier: nullable(Type.String({ description: 'Null for words that are not in the SPDX list' })),
  url: nullable(Type.String()),
});

export const dependencyMembers = {
  name: Type.String(),
  version: Type.String(),
  package_manager: PackageManager,
  dependency_file_path: Type.String({ description: 'The path of the file that lists it' }),
  licenses: Type.Array(License),
};

export const Dependency = resource('Dependency', dependencyMembers);

/** The columns of a dependency. */
export const dependencyColumns = ['name', 'version', 'package_manager', 'path', 'licenses'] as const;

interface Row {
  name: string;
  version: string;
  package_manager: string;
  path: string;
  licenses: string[];
}

/** A dependency as its project shows it. */
export const presentDependency = ({ name, version, package_manager, path, licenses }: Row): Static<typeof Dependency> => ({
  name,
  version,
  package_manager: package_manager as Static<typeof PackageManager>,
  dependency_file_path: path,
  licenses: namedLicenses(licenses),
});
