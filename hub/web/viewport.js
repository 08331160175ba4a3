/**
 * Where an on-screen keyboard covers the page instead of shrinking it (iOS), the page shrinks by itself: `--height`
 * is what can be seen. Nothing to do elsewhere.
 */
export function followViewport() {
  const view = window.visualViewport
  if (!view) return
  const fit = () => {
    const isCovered = view.scale === 1 && window.innerHeight - view.height > 80
    const style = document.documentElement.style
    if (isCovered) style.setProperty('--height', `${view.height}px`)
    else style.removeProperty('--height')
    if (isCovered) window.scrollTo(0, 0)
  }
  view.addEventListener('resize', fit)
}
