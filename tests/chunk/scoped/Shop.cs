using System.Text;
using System.Linq;
using static System.Math;

namespace Shop
{
    namespace Cart
    {
        /// <summary>Keeps rows.</summary>
        [Serializable]
        public partial class Basket<T> : Base, IKeeps where T : new()
        {
            const int LIMIT = 1;

            public string All()
            {
                return new StringBuilder().ToString();
            }
        }
    }
}
