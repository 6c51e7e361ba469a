/**
 * Parts of the app whose code is loaded on demand. If that fails, the app waits for the server before it reloads the page:
 * otherwise the browser's error page would replace it.
 */
import {
  type ComponentType,
  createElement,
  type LazyExoticComponent,
  lazy,
  type ReactNode,
  Suspense,
} from 'react';
import { untilServerAnswers } from '../api/session.js';

type Loader = () => Promise<unknown>;

/** Those that were not loaded in advance yet. */
const waiting = new Set<Loader>();

/** The component that a module exports under a name. It suspends until its code is there. */
export function lazyCode<P, Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType<P>>>>,
  name: Name,
): LazyExoticComponent<ComponentType<P>> {
  waiting.add(load);
  return lazy(async () => ({ default: (await loadPatiently(load))[name] }));
}

/** The same, as a part of a page that does not wait for it: until its code is there, `fallback` is shown. */
export function lazyPart<P extends object, Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType<P>>>>,
  name: Name,
  fallback: ReactNode = null,
): ComponentType<P> {
  const Part = lazyCode(load, name);
  return (props) => createElement(Suspense, { fallback }, createElement(Part, props));
}

async function loadPatiently<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    await untilServerAnswers();
    // Browsers remember which files failed, and an upgrade of the server has replaced them. If a reload has not helped, show
    // the error.
    if (!reloadOnce()) throw error;
    return new Promise<never>(() => {});
  }
}

/** Returns whether the page is reloaded: not if it has just been, or if the browser keeps nothing to tell that. */
function reloadOnce(): boolean {
  try {
    const last = Number(sessionStorage.getItem('caller-stats.reloaded') ?? 0);
    if (performance.timeOrigin - last < 10_000) return false;
    sessionStorage.setItem('caller-stats.reloaded', String(performance.timeOrigin));
  } catch {
    return false;
  }
  location.reload();
  return true;
}

/** The page that is shown has loaded its own parts by then. */
const preloadAfterMs = 3_000;

/** Loads all code while the browser has nothing else to do, so that the app works while the server restarts. */
export function preloadLater(): () => void {
  const timer = setTimeout(preloadAll, preloadAfterMs);
  return () => clearTimeout(timer);
}

function preloadAll(): void {
  // Safari has no idle callbacks.
  const whenIdle = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 1_000));
  whenIdle(async () => {
    const loaders = [...waiting];
    if (loaders.length === 0) return;
    waiting.clear();
    // A part that is needed and could not be loaded is loaded again.
    await Promise.allSettled(loaders.map((load) => load()));
    // What has been loaded may have parts, too.
    preloadAll();
  });
}
