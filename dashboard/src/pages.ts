/** The pages: their paths, and their code, which is loaded on demand or shortly before. */
import type { ComponentType } from 'react';
import type { CurrentProject } from './navigation/current-project.js';
import { lazyCode } from './navigation/lazy-code.js';
import { OverviewPage } from './pages/overview/overview-page.js';
import { StartPage } from './pages/start-page.js';

interface Page<P> {
  readonly path: string;
  readonly Page: ComponentType<P>;
  /** Undefined for the pages that are part of the app's code, because most visits need them first. */
  readonly load?: () => Promise<unknown>;
}

function page<P, Name extends string>(
  path: string,
  load: () => Promise<Readonly<Record<Name, ComponentType<P>>>>,
  name: Name,
): Page<P> {
  return { path, load, Page: lazyCode(load, name) };
}

/** Of a project. */
export const PROJECT_PAGES: readonly Page<CurrentProject>[] = [
  { path: '/projects/:id', Page: OverviewPage },
  page('/projects/:id/keys', () => import('./pages/keys/keys-page.js'), 'KeysPage'),
  page('/projects/:id/sources', () => import('./pages/sources/sources-page.js'), 'SourcesPage'),
  page(
    '/projects/:id/corrections',
    () => import('./pages/corrections/corrections-page.js'),
    'CorrectionsPage',
  ),
  page('/projects/:id/settings', () => import('./pages/settings/settings-page.js'), 'SettingsPage'),
];

/** Of the person who is signed in. */
export const MEMBER_PAGES: readonly Page<object>[] = [
  { path: '/', Page: StartPage },
  page('/projects', () => import('./pages/projects/projects-page.js'), 'ProjectsPage'),
  page('/new-project', () => import('./pages/new-project-page.js'), 'NewProjectPage'),
  page('/members', () => import('./pages/members/members-page.js'), 'MembersPage'),
  page('/audit', () => import('./pages/audit/audit-page.js'), 'AuditPage'),
  page('/account', () => import('./pages/account/account-page.js'), 'AccountPage'),
  page('/connect', () => import('./pages/account/connect-page.js'), 'ConnectPage'),
];

/** Of a person who is not signed in yet. */
export const GUEST_PAGES: readonly Page<object>[] = [
  page('/sign-in', () => import('./pages/sign-in/sign-in-page.js'), 'SignInPage'),
  page('/set-up', () => import('./pages/set-up-page.js'), 'SetUpPage'),
  page('/join', () => import('./pages/join-page.js'), 'JoinPage'),
  page('/forgot', () => import('./pages/sign-in/forgot-page.js'), 'ForgotPage'),
  page('/reset', () => import('./pages/reset-page.js'), 'ResetPage'),
];

/** Of everybody: they do not depend on who is signed in. */
export const OPEN_PAGES: readonly Page<object>[] = [
  page('/docs/try', () => import('./pages/try/try-page.js'), 'TryPage'),
  page('/share/:token', () => import('./pages/shared/shared-page.js'), 'SharedPage'),
];

/** Instead of a page that may not be shown yet. */
export const SetUpNeededPage = lazyCode(() => import('./pages/set-up-needed-page.js'), 'SetUpNeededPage');
export const SecondFactorNeededPage = lazyCode(
  () => import('./pages/account/second-factor-needed-page.js'),
  'SecondFactorNeededPage',
);

const LOADERS = [...PROJECT_PAGES, ...MEMBER_PAGES, ...GUEST_PAGES, ...OPEN_PAGES].map(({ path, load }) => ({
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
  load,
}));

function findPage(path: string) {
  return LOADERS.find(({ pattern }) => pattern.test(path));
}

/** Whether there is a page at a path. */
export function isPage(path: string): boolean {
  return findPage(path) !== undefined;
}

/** Preloads the page of a path. Opening it reports the error. */
export function preloadPage(path: string): void {
  findPage(path)
    ?.load?.()
    .catch(() => undefined);
}
