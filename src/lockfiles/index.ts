/** Files that list the dependencies of a project: lock files, manifests and bills of materials. It imports no other folder of ours. */
export {
  advisedName,
  type PackageManager,
  type ParentBytes,
  packageManagers,
  TooCostly,
  Unreadable,
} from './entries.ts';
export { hasListingName, isListing, type Listing, listingsAmong, mayBeListing } from './files.ts';
export { namedLicenses } from './licenses.ts';
export { licensedEcosystem, maximumMetadata_bytes, mayTellLicense } from './package_licenses.ts';
export { purlOf } from './purls.ts';
export {
  findWays,
  maximumListing_bytes,
  type Portion,
  type ReadFile,
  readFile,
  readLicenses,
  wakeReader,
} from './reading.ts';
