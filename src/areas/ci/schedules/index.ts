/** The interface of schedules to other districts. */
export { runSchedule, startSchedules } from './jobs.ts';
export { tellOfStop } from './mail_jobs.ts';
export { PipelineSchedule, PipelineScheduleDetail } from './present.ts';
