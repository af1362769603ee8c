/** The interface of files of jobs to other districts. */

export { artifactDoors, artifactDoorway } from './http.ts';
export { removeExpiredArtifacts, removeProjectArtifacts } from './jobs.ts';
export { ArtifactEntry, TestReport, TestReportSummary } from './present.ts';
export { takeReports } from './report_jobs.ts';
